/// A queue at one moment.
public struct QueueSnapshot: Sendable {
  public let name: String
  public let counters: QueueCounters
  public let limits: QueueLimits
  /// Who has paused it; empty when nobody has.
  public let pauses: PauseReason
  public let isClosed: Bool
  /// The operations that hold a place, in the order in which they got it.
  public let running: [OperationSnapshot]
  /// The operations that wait, first to start first; at most as many as were asked for.
  public let waiting: [OperationSnapshot]
}

/// What a cancellation of everything met.
public struct CancelledOperations: Sendable {
  /// Taken out of the line: they have ended without running.
  public let waiting: [BoundedOperation]
  /// Asked to stop: they end when their work next looks.
  public let running: [BoundedOperation]
}
