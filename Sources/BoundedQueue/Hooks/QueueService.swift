#if ServiceLifecycleSupport
import ServiceLifecycle

/// A queue in a `ServiceGroup`: the group ends only when the queue has done what it has accepted.
///
/// ```swift
/// func serve(_ server: some Service, on queue: BoundedOperationQueue, logger: Logger) async throws {
///   let group = ServiceGroup(
///     services: [QueueService(queue, drainingFor: .seconds(20)), server],
///     gracefulShutdownSignals: [.sigterm], logger: logger)
///   try await group.run()
/// }
/// ```
///
/// On a graceful shutdown the queue is closed: a producer that comes later or waits for room gets ``SubmitError/closed``,
/// and what was accepted still runs. When the time for that is over, or the group cancels its services, the rest is
/// cancelled with the reason ``CancelReason/shutdown``. A paused queue starts nothing, so give a limit if it may be paused
/// then. `ServiceGroup` ends the last service of its list first, so list the queue before the services that submit.
///
/// The package trait `ServiceLifecycleSupport` brings it.
public struct QueueService: Service {
  private let queue: BoundedOperationQueue
  private let limit: Duration?

  /// - Parameters:
  ///   - queue: it should not be closed before.
  ///   - limit: how long accepted operations may take from the shutdown on; nil means no limit.
  public init(_ queue: BoundedOperationQueue, drainingFor limit: Duration? = nil) {
    (self.queue, self.limit) = (queue, limit)
  }

  /// Returns when the queue is closed and idle.
  public func run() async {
    do {
      try await gracefulShutdown()
      queue.close()
      guard let limit else { return try await queue.drain() }
      if try await queue.drain(for: limit) { return }
    } catch {
      // The task is cancelled.
    }
    queue.stop(reason: .shutdown)
    await queue.drainDespiteCancellation()
  }
}
#endif
