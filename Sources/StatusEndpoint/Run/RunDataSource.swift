/// Provides the snapshots of a run that the endpoint shows.
///
/// *Concurrency*: called on the endpoint's only thread, which answers nothing else meanwhile. Take a snapshot under a lock
/// that is only held briefly; never wait for work, disk or another thread.
public protocol RunDataSource: Sendable {
  /// What the run counts besides the operations of its queue. Always the same.
  var counters: [RunCounter] { get }

  /// Further metrics. None, if a run does not say otherwise.
  var metrics: [MetricFamily] { get }

  /// - Parameter limit: the most running operations, and the most waiting operations, to list.
  func status(listing limit: Int) -> RunStatus

  /// The operations that a query selects: waiting, running, and those ended ones that are still kept. Use
  /// ``OperationPage/init(_:from:)`` and ``RecentOperations``.
  func operations(_ query: OperationQuery) -> OperationPage

  /// One operation, in any state; nil if it is unknown.
  func operation(_ id: Int) -> OperationStatus?
}

extension RunDataSource {
  public var metrics: [MetricFamily] { [] }
}

/// The commands that a run accepts from clients.
///
/// *Concurrency*: awaited on the endpoint's thread, which serves other clients meanwhile. Work that takes long or blocks,
/// such as notifying observers of the run, belongs on another thread.
public protocol RunControl: Sendable {
  /// Asks one operation to stop.
  func cancel(_ id: Int) async -> CancelAnswer

  /// Ends the run: waiting operations never start, running ones stop soon.
  ///
  /// - Returns: the number of cancelled operations.
  func cancelAll() async -> CancelledCount

  /// Starts no more operations. Running ones continue.
  func pause() async

  /// Undoes ``pause()``.
  func resume() async

  /// Changes the given limits.
  ///
  /// - Returns: all current limits.
  /// - Throws: ``LimitsError`` if they are refused; nothing is changed then.
  func change(_ limits: LimitsChange) async throws(LimitsError) -> RunLimits
}

/// The result of cancelling one operation.
public enum CancelAnswer: Sendable, Equatable {
  /// It was waiting and will never start.
  case wasWaiting
  /// It was running and stops at its next check for cancellation.
  case wasRunning
  /// It had already ended.
  case hasEnded
  case isUnknown
}

/// How many operations were cancelled.
public struct CancelledCount: Codable, Sendable, Equatable {
  /// Waiting operations, which will never start.
  public var waiting: Int
  /// Running operations, which stop soon.
  public var running: Int

  public init(waiting: Int, running: Int) { (self.waiting, self.running) = (waiting, running) }
}

/// The answer to a request to pause or to resume.
struct PauseState: Codable, Sendable {
  let paused: Bool
}
