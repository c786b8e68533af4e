/// One change of an operation, as observers receive it.
public struct QueueEvent: Sendable {
  public enum Change: Sendable {
    /// The queue accepted it.
    case waiting
    /// Its work begins.
    case started
    /// Its work entered a new stage.
    case stage(String)
    /// It ended. No event follows.
    case ended(Outcome)
  }

  public let operation: BoundedOperation
  public let change: Change
  /// When the change happened; the event may be delivered a little later.
  public let instant: ContinuousClock.Instant
}
