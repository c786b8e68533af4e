import Foundation
import StatusEndpoint
import ThumbnailJobs

/// Where a running job can be asked: the user's private socket, which `thumbjob status` finds by itself, and besides it
/// the address that was asked for.
///
/// *Concurrency*: every member may be called from any thread; what it keeps is not changed.
final class JobEndpoints: Sendable {
  private let job: JobEndpoint
  private let open: [StatusEndpoint]

  /// Begins to answer.
  ///
  /// - Parameters:
  ///   - address: what was asked for; nil for the private socket alone.
  ///   - stop: ends the job as USR2 does; returns at once.
  ///   - onNote: told, for people, where it can be asked, and why not at the private socket, which nobody has asked for.
  /// - Throws: `StatusEndpointError` where the address cannot be had; `TextProblem` where the token in the environment is
  ///   none.
  init(
    _ address: StatusAddress?, _ job: Job, _ thumbnails: LatestThumbnails, stop: @escaping @Sendable () -> Void,
    onNote: (_ text: String, _ isAskedFor: Bool) -> Void
  ) throws {
    self.job = JobEndpoint(job, thumbnails: thumbnails, stop: stop)
    var open: [StatusEndpoint] = []
    let chosen = address == nil ? nil : try StatusToken.chosen()
    if let address, let endpoint = try Self.open(address, self.job, chosen ?? AccessToken()) {
      open.append(endpoint)
      // Whoever has chosen the token knows it, and may not want it in a log.
      if let link = endpoint.pageLink(withToken: chosen == nil) { onNote("status at \(link)", true) }
    }
    do {
      if let endpoint = try Self.open(nil, self.job, AccessToken()) { open.append(endpoint) }
    } catch {
      onNote("\(error); --status chooses another address, or off", false)
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

  /// Memory got tight or free again.
  func heard(_ note: PressureNote) { job.heard(note) }

  /// The job begins to stop, or does so for another reason.
  func heardStop() { job.postState() }

  /// Tells who listens that the run is over, and ends all answering. Takes about a second at the most.
  func close() {
    job.finished()
    DispatchQueue.concurrentPerform(iterations: open.count) { open[$0].close() }
  }

  /// Removes the sockets and no more: for the thread that ends the process at once.
  func removeSockets() {
    for endpoint in open { endpoint.removeSocket() }
  }
}
