import BoundedQueue
import MemoryPressure

/// What a job did about memory pressure, for whoever wants to know.
public struct PressureNote: Sendable {
  public enum Action: Sendable {
    /// Starts nothing and gives out no memory; what has its memory goes on.
    case paused
    /// Cancelled these, to be done again.
    case requeued(CancelledOperations)
    /// Cancelled these and ends.
    case stopped(CancelledOperations)
    /// Goes on, with so many at once.
    case resumed(max: Int)
    /// Goes on with one at a time, though memory is still tight: nothing has changed for a while, and none of it is ours.
    case oneAtATime
    /// Goes on with so many at once.
    case widened(max: Int)
    /// Goes by the memory held from now on: the source that told of pressure has gone.
    case lostSource
    /// Only says so.
    case none
  }

  public let level: PressureLevel
  /// Who said so, and why; nil where nobody said anything, which was the reason.
  public let cause: PressureCause?
  public let action: Action
  /// Whether the level has just become this.
  public let isChange: Bool
}
