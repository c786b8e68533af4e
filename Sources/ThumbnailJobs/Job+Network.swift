import BoundedQueue
import Fetching
import Files

// Network: sources that are fetched before their thumbnails are made.
extension Job {
  /// Submits the operations of a source from the network: one fetches it, and one that depends on it makes the thumbnails.
  ///
  /// - Returns: false if the job is stopping.
  func addRemote(_ source: Source, _ address: RemoteAddress, at place: Path) -> Bool {
    var known: KnownThumbnails?
    var lookUp: FetchOperation.LookUp?
    if outputs[0].bucket != nil {
      lookUp = { [outputs] isCancelled throws(OutputError) in
        try ThumbnailOutput.kept(in: outputs, of: source, place, isCancelled: isCancelled)
      }
    } else if !settings.force {
      switch SettingsStamp.RemoteState.together(outputs.map { $0.remoteState(of: source, address, place) }) {
      case .isTaken(let place): return refuse(source, .output(OutputError(.taken, place)))
      case .missing: break
      case .made(let found): known = found
      }
    }
    if let known, let listed = source.listed, SourceContents(listed) == known.contents {
      return addUpToDate(source, at: place)
    }
    if settings.dryRun {
      // A dry run asks no server of a source, but a bucket of thumbnails.
      if let lookUp {
        let found: KnownThumbnails?
        do throws(OutputError) { found = try lookUp { isStopping } } catch {
          return isStopping ? false : refuse(source, .output(error))
        }
        if let found, let listed = source.listed, SourceContents(listed) == found.contents {
          return addUpToDate(source, at: place)
        }
      }
      report(SourceReport(source: source, result: .made))
      return true
    }
    watchFetches()
    let fetch = FetchOperation(
      source, address, known: known, lookUp: lookUp, options: outputs.map(\.options), network)
    guard fetch.claim(), submit(fetch, to: network.queue) else {
      report(SourceReport(source: source, result: .cancelled(stopReason)))
      return false
    }
    return start(SourceTask(source: source, place: place, work: .make, fetch: fetch))
  }

  /// Has fetches ended that run too long. Only the first call has an effect.
  private func watchFetches() {
    state.withLock { state in
      if state.fetchWatchdog != nil { return }
      let watchdog = Watchdog(
        queue: network.queue, timeout: settings.timeout, total: nil, waitingStages: FetchStage.waiting
      ) {}
      state.fetchWatchdog = watchdog.start()
    }
  }

  /// Handles a source of which the listing of its bucket tells that its thumbnails are up to date.
  ///
  /// - Returns: false if the job is stopping.
  private func addUpToDate(_ source: Source, at place: Path) -> Bool {
    if joins != nil { return start(SourceTask(source: source, place: place, work: .describe)) }
    state.withLock { $0.tally.upToDate += 1 }
    return true
  }
}
