import BoundedQueue
import MemoryPressure

/// A response to memory pressure.
package struct PressureNote: Sendable {
  /// What was done.
  package enum Action: Sendable {
    /// Admits no operation and grants no reservation. Operations that have their reservation go on.
    case paused
    /// Cancelled these operations; new ones will take their place.
    case requeued(CancelledOperations)
    /// Cancelled these operations and ends.
    case stopped(CancelledOperations)
    /// Goes on with at most `max` operations at once.
    case resumed(max: Int)
    /// Goes on with one operation at a time although memory is still tight, because other processes hold it.
    case oneAtATime
    /// Runs up to `max` operations at once from now on.
    case widened(max: Int)
    /// Measures memory in use from now on, because the pressure signals have stopped.
    case signalsLost
    /// Does nothing.
    case none
  }

  package let level: PressureLevel
  /// The signal and its reason; nil if this is the response to no signal having come for some time.
  package let cause: PressureCause?
  package let action: Action
  /// Whether the note reports a change of the level.
  package let isChange: Bool
}
