import Foundation
import StatusEndpoint
import ThumbnailJobs

/// The open status endpoints of a job: the user's private socket, which `thumbjob status` finds by itself, and the requested
/// address.
///
/// *Concurrency*: immutable; every member may be called from any thread.
final class JobEndpoints: Sendable {
  /// The sender of requests to cancel the job, in messages.
  static let sender = "a user through the status endpoint"

  private let job: JobEndpoint
  private let open: [StatusEndpoint]

  /// Opens the endpoints.
  ///
  /// - Parameters:
  ///   - address: the requested address; nil for the private socket only.
  ///   - stop: cancels the job as USR2 does, and returns at once.
  ///   - onMessage: receives messages: the link to the requested address, and why the private socket cannot be opened.
  /// - Throws: `StatusEndpointError` if the requested address cannot be opened; `TextError` if the token in the environment
  ///   is invalid.
  init(
    _ address: StatusAddress?, _ job: Job, _ thumbnails: LatestThumbnails, stop: @escaping @Sendable () -> Void,
    onMessage: (_ text: String, _ isRequested: Bool) -> Void
  ) throws {
    self.job = JobEndpoint(job, thumbnails: thumbnails, stop: stop)
    var open: [StatusEndpoint] = []
    let chosen = address == nil ? nil : try StatusToken.chosen()
    if let address, let endpoint = try Self.open(address, self.job, chosen ?? AccessToken()) {
      open.append(endpoint)
      // A token from the environment is not printed: the user knows it, and it should not end up in a log.
      if let link = endpoint.pageLink(withToken: chosen == nil) { onMessage("status at \(link)", true) }
    }
    do {
      if let endpoint = try Self.open(nil, self.job, AccessToken()) { open.append(endpoint) }
    } catch {
      onMessage(Advice.line(error), false)
    }
    self.open = open
  }

  private static func open(
    _ address: StatusAddress?, _ job: JobEndpoint, _ token: AccessToken
  ) throws(StatusEndpointError) -> StatusEndpoint? {
    try StatusEndpoint.open(
      address, dataSource: job, control: job, feed: job.feed, thumbnails: job.thumbnails, times: job.times, token: token
    )
  }

  func handle(_ note: PressureNote) { job.handle(note) }

  /// Call it when the job is stopping, or gets a new cause to stop.
  func handleStop() { job.postState() }

  /// Reports the end of the run to all listeners. A second call replaces the outcome.
  func finish(_ outcome: RunOutcome) { job.finish(outcome) }

  /// Sends the last status to all listeners and closes the endpoints. Each takes at most about a second. They are closed
  /// one after the other, because closing both at once would need another thread.
  func close() {
    for endpoint in open { endpoint.close() }
  }

  /// Only removes the sockets, for a thread that ends the process at once.
  func removeSockets() {
    for endpoint in open { endpoint.removeSocket() }
  }
}
