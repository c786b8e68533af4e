import Jobs
import Locking
import PictureMaking
import StatusEndpoint

/// The status endpoints of a job: the requested address, and the user's private socket, which `thumbjob status` finds by
/// itself. The socket opens while the job starts. Its server starts with the first client, or after a second.
///
/// *Concurrency*: every member may be called from any thread.
final class JobEndpoints: Sendable {
  /// The sender of requests to cancel the job, in messages.
  static let sender = "a user through the status endpoint"

  private let job: JobEndpoint
  private let requested: StatusEndpoint?
  /// The private socket's endpoint; nil until it is open, and if it cannot be opened.
  private let own = Locked<StatusEndpoint?>(nil)
  /// Signalled when the private socket is open, or cannot be opened. A thread that has waited for it signals it again, for
  /// the next one.
  private let ownIsKnown = TimedSignal()
  /// How long a job runs before its server starts without a client. From then on, it keeps the history of the job.
  private static let patience = Duration.seconds(1)
  /// How long a thread that ends the process waits for a socket that is being opened.
  private static let lastWait = Duration.milliseconds(100)

  /// Opens the requested address, and begins to open the private socket.
  ///
  /// - Parameters:
  ///   - address: the requested address; nil for the private socket only.
  ///   - stop: cancels the job as USR2 does, and returns at once.
  ///   - onLink: receives the link to the requested address, before this returns.
  ///   - onProblem: receives the reason why the private socket cannot be opened, before the first ``finish(_:)`` returns, or
  ///     why its server cannot be started. It is called on any thread.
  /// - Throws: `StatusEndpointError` if the requested address cannot be opened; `TextError` if the token in the environment
  ///   is invalid.
  init(
    _ address: StatusAddress?, _ job: Job, _ thumbnails: LatestThumbnails, stop: @escaping @Sendable () -> Void,
    onLink: (String) -> Void, onProblem: @escaping @Sendable (String) -> Void
  ) throws {
    let endpoint = JobEndpoint(job, thumbnails: thumbnails, stop: stop)
    self.job = endpoint
    let chosen = address == nil ? nil : try StatusToken.chosen()
    requested = try address.flatMap { try Self.open($0, endpoint, chosen ?? AccessToken()) }
    // A token from the environment is not printed: the user knows it, and it should not end up in a log.
    if let link = requested?.pageLink(withToken: chosen == nil) { onLink(link) }
    // If files are scarce, the walk could open so many that none are left for the server, and SwiftNIO would then end the
    // process. So the server opens its files first.
    let isScarce = !ProcessLimits.allowsAnyWalk(max: job.settings.maxInUse)
    let hasThread = startThread(name: "endpoint") { [self] in
      do {
        let opened = try Self.open(nil, endpoint, AccessToken(), startsLater: !isScarce)
        own.withLock { $0 = opened }
        ownIsKnown.signal()
        if !isScarce { try opened?.startWhenAsked(within: Self.patience) { ProcessLimits.problemOfServer() } }
      } catch {
        onProblem(Advice.line(error))
        ownIsKnown.signal()
      }
    }
    if !hasThread {
      onProblem(ProcessLimits.noThread)
      ownIsKnown.signal()
    }
    if isScarce { waitForOwn() }
  }

  private static func open(
    _ address: StatusAddress?, _ job: JobEndpoint, _ token: AccessToken, startsLater: Bool = false
  ) throws(StatusEndpointError) -> StatusEndpoint? {
    try StatusEndpoint.open(
      address, dataSource: job, control: job, feed: job.queues.feed, thumbnails: job.thumbnails,
      times: job.queues.times,
      token: token, startsLater: startsLater)
  }

  /// Waits until the private socket is open or cannot be opened, but at most `limit`.
  private func waitForOwn(upTo limit: Duration = .seconds(1 << 33)) {
    if ownIsKnown.wait(upTo: limit) { ownIsKnown.signal() }
  }

  func handle(_ note: PressureNote) { job.handle(note) }

  /// Call it when the job is stopping, or gets a new cause to stop.
  func handleStop() { job.postState() }

  /// Reports the end of the run to all listeners. A second call replaces the outcome.
  func finish(_ outcome: RunOutcome) {
    waitForOwn()
    job.finish(outcome)
  }

  /// Sends the last status to all listeners and closes the endpoints. Each takes at most about a second. They are closed
  /// one after the other, because closing both at once would need another thread.
  func close() {
    waitForOwn()
    requested?.close()
    own.withLock { $0 }?.close()
  }

  /// Only removes the sockets, for a thread that ends the process. It waits at most ``lastWait`` for a socket that is being
  /// opened; one that opens later stays.
  func removeSockets() {
    waitForOwn(upTo: Self.lastWait)
    requested?.removeSocket()
    own.withLock { $0 }?.removeSocket()
  }
}
