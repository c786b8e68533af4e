/// What the endpoint shows: snapshots of a run, which whoever runs it provides.
///
/// *Concurrency*: called on the endpoint's one thread, which nothing else can be answered on meanwhile. Take a snapshot
/// under a lock that nobody holds for long; never wait for work, disk or another thread.
public protocol RunDataSource: Sendable {
  /// - Parameter limit: list at most so many of the operations that run, and of those that wait.
  func status(listing limit: Int) -> RunStatus

  /// The operations that a query selects: those under way, and those that have ended of which something is still known.
  /// ``OperationPage/init(_:from:)`` and ``RecentOperations`` do most of it.
  func operations(_ query: OperationQuery) -> OperationPage

  /// One operation, under way or ended; nil where nothing is known of it.
  func operation(_ id: Int) -> OperationStatus?
}

/// What somebody may do to a run from outside.
///
/// *Concurrency*: awaited on the endpoint's thread, which answers others meanwhile. What may take long or block, such as
/// telling those who observe the run, belongs on a thread of the run's own.
public protocol RunControl: Sendable {
  /// Asks one operation to stop.
  func cancel(_ id: Int) async -> CancelAnswer

  /// Ends the run: what waits never starts, what runs stops soon.
  ///
  /// - Returns: how many that is.
  func cancelAll() async -> CancelledCount

  /// Starts nothing new from here on. What runs goes on.
  func pause() async

  /// Undoes ``pause()``.
  func resume() async

  /// Changes the bounds that are given.
  ///
  /// - Returns: all bounds as they now are.
  /// - Throws: ``LimitsError`` where they cannot be had; nothing is changed then.
  func change(_ limits: LimitsChange) async throws(LimitsError) -> RunLimits
}

/// What became of asking one operation to stop.
public enum CancelAnswer: Sendable, Equatable {
  /// It had not begun and never will.
  case wasWaiting
  /// It stops when its work next looks.
  case wasRunning
  /// Too late: it has ended.
  case hasEnded
  case isUnknown
}

/// How many operations were cancelled.
public struct CancelledCount: Codable, Sendable, Equatable {
  /// They will never start.
  public var waiting: Int
  /// They stop soon.
  public var running: Int

  public init(waiting: Int, running: Int) { (self.waiting, self.running) = (waiting, running) }
}
