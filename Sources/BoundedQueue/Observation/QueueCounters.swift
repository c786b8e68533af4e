/// The numbers of a queue at one moment, taken together under one lock in O(1).
///
/// At every moment `submitted == waiting + running + succeeded + failed + cancelledWhileWaiting + cancelledWhileRunning`.
public struct QueueCounters: Sendable, Hashable {
  /// Operations accepted so far.
  public internal(set) var submitted = 0
  /// Accepted and waiting to run.
  public internal(set) var waiting = 0
  /// Holding one of the `max` places. An operation holds its place until its observers have heard how it ended.
  public internal(set) var running = 0
  /// Producers waiting in `submit` for a place in the backlog. Their operations are not yet accepted.
  public internal(set) var blockedProducers = 0
  public internal(set) var succeeded = 0
  public internal(set) var failed = 0
  public internal(set) var cancelledWhileWaiting = 0
  public internal(set) var cancelledWhileRunning = 0
  /// The most that ran, and that waited, at once.
  public internal(set) var peakRunning = 0
  public internal(set) var peakWaiting = 0
  /// Of those running: waiting for memory.
  public internal(set) var waitingForMemory = 0
  /// Bytes reserved now, and the most at once.
  public internal(set) var reserved = 0
  public internal(set) var peakReserved = 0

  public var cancelled: Int { cancelledWhileWaiting + cancelledWhileRunning }
  /// Operations that have ended, however they did.
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
