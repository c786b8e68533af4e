/// How far the operations of a queue are, all together.
public struct QueueProgress: Sendable, Hashable {
  /// Operations accepted so far.
  public let submitted: Int
  /// Those of them that have ended.
  public let ended: Int
  /// The work that is done, in operations: each that has ended counts as one, and each that runs as its progress.
  public let done: Double

  /// The part of the accepted work that is done, 0 to 1; 0 if there is none.
  public var fraction: Double { submitted == 0 ? 0 : done / Double(submitted) }
}

extension BoundedOperationQueue {
  /// How far the operations are that the queue has accepted so far, in O(running).
  public var progress: QueueProgress {
    let (counters, running) = account.withLock { ($0.counters, $0.running) }
    return QueueProgress(
      submitted: counters.submitted, ended: counters.ended,
      done: running.reduce(Double(counters.ended)) { $0 + $1.fraction })
  }
}
