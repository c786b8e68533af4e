/// Counts of a queue's operations, all from the same moment.
///
/// `submitted` always equals `waiting + running + succeeded + failed + cancelledWhileWaiting + cancelledWhileRunning`.
public struct QueueCounters: Sendable, Hashable {
  /// Operations accepted so far.
  public internal(set) var submitted = 0
  /// Operations that wait to run.
  public internal(set) var waiting = 0
  /// Those of them that depend on operations that have not ended.
  public internal(set) var waitingForDependencies = 0
  /// Those of them that wait for others with the same key, of which ``QueueLimits/perKey`` are under way.
  public internal(set) var waitingForKey = 0
  /// Operations that hold one of the `max` places. A place is freed after the observers have received the operation's
  /// end.
  public internal(set) var running = 0
  /// Producers that wait in `submit` for room in the backlog. Their operations are not yet accepted.
  public internal(set) var blockedProducers = 0
  public internal(set) var succeeded = 0
  public internal(set) var failed = 0
  public internal(set) var cancelledWhileWaiting = 0
  public internal(set) var cancelledWhileRunning = 0
  /// The cancelled operations whose reason was a dependency.
  public internal(set) var cancelledForDependencies = 0
  /// The most operations that ran at once. Operations that had a place but had not begun are not counted.
  public internal(set) var peakRunning = 0
  /// The most operations that waited at once.
  public internal(set) var peakWaiting = 0
  /// Running operations that wait for memory.
  public internal(set) var waitingForMemory = 0
  /// Bytes that are reserved now.
  public internal(set) var reserved = 0
  /// The most bytes that were reserved at once.
  public internal(set) var peakReserved = 0

  public var cancelled: Int { cancelledWhileWaiting + cancelledWhileRunning }
  /// Operations that have ended, with any outcome.
  public var ended: Int { succeeded + failed + cancelled }

  mutating func count(_ outcome: Outcome) {
    switch outcome {
    case .succeeded: succeeded += 1
    case .failed: failed += 1
    case .cancelledWhileWaiting: cancelledWhileWaiting += 1
    case .cancelledWhileRunning: cancelledWhileRunning += 1
    }
  }
}
