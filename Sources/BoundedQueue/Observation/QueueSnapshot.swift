/// The state of a queue at one moment.
public struct QueueSnapshot: Sendable {
  public let name: String
  public let counters: QueueCounters
  public let limits: QueueLimits
  /// Why it is paused; empty if it is not.
  public let pauses: PauseReason
  public let isClosed: Bool
  /// The running operations, in the order in which they started.
  public let running: [OperationSnapshot]
  /// The waiting operations in order; at most the requested number.
  public let waiting: [OperationSnapshot]
}

/// The operations that a cancellation of the whole queue affected.
public struct CancelledOperations: Sendable {
  /// Operations that waited: they have ended without running.
  public let waiting: [BoundedOperation]
  /// Operations that ran: they end when their work next checks for cancellation.
  public let running: [BoundedOperation]
}
