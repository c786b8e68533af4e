import BoundedQueue
import MemoryPressure

/// A change of memory pressure, and the response of the job.
public struct PressureNote: Sendable {
  public enum Action: Sendable {
    /// Admits no operation and grants no reservation. Operations that have their reservation go on.
    case paused
    /// Cancelled these operations; new ones will make their thumbnails.
    case requeued(CancelledOperations)
    /// Cancelled these operations and ends.
    case stopped(CancelledOperations)
    /// Goes on, with at most so many operations at once.
    case resumed(max: Int)
    /// Goes on with one operation at a time although memory is still tight, because other processes hold it.
    case oneAtATime
    /// Now runs at most so many operations at once.
    case widened(max: Int)
    /// Measures memory in use from now on, because the pressure signals have stopped.
    case signalsLost
    /// Does nothing.
    case none
  }

  public let level: PressureLevel
  /// The signal and its reason; nil if the response follows from the absence of signals.
  public let cause: PressureCause?
  public let action: Action
  /// Whether the level has just changed.
  public let isChange: Bool
}
