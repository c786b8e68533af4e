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
    var isComplete = !settings.force
    for output in outputs {
      switch output.remoteState(of: source, url, place) {
      case .isTaken where settings.force: isComplete = false
      case .isTaken(let place): return refuse(source, .output(OutputError(.takenByName, output.path.appending(place))))
      case .missing: isComplete = false
      case .made(let found):
        isComplete = isComplete && known.map { $0 == found } ?? true
        known = found
      }
    }
    if settings.dryRun {
      // A dry run asks no server.
      report(SourceReport(source: source, result: .made))
      return true
    }
    let fetch = FetchOperation(
      source, url, known: isComplete ? known : nil, options: outputs.map(\.options), network)
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
