import BoundedQueue
import Fetching
import Files

// Network: sources that are fetched before their thumbnails are made.
extension Job {
  /// Submits the operations of a source from the network: one fetches it, and one that depends on it makes the thumbnails.
  ///
  /// - Returns: false if the job is stopping.
  func addRemote(_ source: Source, _ url: RemoteURL, at place: Path) -> Bool {
    var known: KnownThumbnails?
    if !settings.force {
      switch SettingsStamp.RemoteState.together(outputs.map { $0.remoteState(of: source, url, place) }) {
      case .isTaken(let place): return refuse(source, .output(OutputError(.takenByName, place)))
      case .missing: break
      case .made(let found): known = found
      }
    }
    if settings.dryRun {
      // A dry run asks no server.
      report(SourceReport(source: source, result: .made))
      return true
    }
    let fetch = FetchOperation(
      source, url, known: known, options: outputs.map(\.options), network)
    guard fetch.claim(), submit(fetch, to: network.queue) else {
      report(SourceReport(source: source, result: .cancelled(stopReason)))
      return false
    }
    return start(ThumbnailOperation(source: source, place: place, fetch: fetch, shared: shared))
  }

  /// Submits the fetch that an operation depends on, unless it was submitted before. If the job is stopping, the operation
  /// is not submitted either.
  func submitFetch(of operation: SourceOperation) {
    guard let fetch = (operation as? ThumbnailOperation)?.fetchOperation, fetch.claim() else { return }
    _ = submit(fetch, to: network.queue)
  }
}
