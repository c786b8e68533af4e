import BoundedQueue
import MemoryPressure

/// A response of the job to memory pressure.
package struct PressureNote: Sendable {
  /// The action of the job.
  package enum Action: Sendable {
    /// Admits no operation and grants no reservation. Operations that have their reservation go on.
    case paused
    /// Cancelled these operations; new operations will make their thumbnails.
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
  /// The signal and its reason; nil if the job responds because no signal has come for some time.
  package let cause: PressureCause?
  package let action: Action
  /// Whether the note reports a change of the level.
  package let isChange: Bool
}

extension JobTally {
  mutating func count(_ note: PressureNote) {
    guard note.isChange else { return }
    switch note.level {
    case .warning: pressureWarnings += 1
    case .critical: pressureCriticals += 1
    case .normal: break
    }
  }
}
