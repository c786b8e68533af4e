/// One change in the life of an operation, as an observer hears it.
public struct QueueEvent: Sendable {
  public enum Change: Sendable {
    /// The queue accepted it.
    case waiting
    /// Its work begins.
    case started
    /// Its work entered a new stage.
    case stage(String)
    /// It ended. Nothing follows.
    case ended(Outcome)
  }

  public let operation: BoundedOperation
  public let change: Change
  /// When it happened, which may be a little before the observer hears of it.
  public let instant: ContinuousClock.Instant
}
