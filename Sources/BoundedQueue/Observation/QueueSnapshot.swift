/// The state of a queue at one moment.
public struct QueueSnapshot: Sendable {
  public let name: String
  public let counters: QueueCounters
  public let limits: QueueLimits
  /// Why it is paused; empty if it is not paused.
  public let pauses: PauseReason
  public let isClosed: Bool
  /// The running operations, in the order in which they started.
  public let running: [OperationSnapshot]
  /// The waiting operations in the order of their creation; at most the requested number.
  public let waiting: [OperationSnapshot]
}

/// The operations that a cancellation of the whole queue affected.
public struct CancelledOperations: Sendable {
  /// Operations that waited: they have ended without running.
  public let waiting: [BoundedOperation]
  /// Operations that had a place. Their work ends when it next checks for cancellation; work that had not begun never
  /// runs.
  public let running: [BoundedOperation]
}
