import BoundedQueue
import MemoryPressure
import ThumbnailJobs

/// What a person is told when memory gets tight or free again.
enum PressureText {
  static func text(_ note: PressureNote) -> String {
    let memory = "memory \(note.level)" + (note.cause.map { " (\($0))" } ?? "")
    switch note.action {
    case .paused: return "thumbjob: \(memory): starting nothing until it is normal"
    case .requeued(let cancelled):
      return QueueListing.text(cancelled, why: memory, fate: ", to be done again when it is normal")
    case .stopped(let cancelled): return QueueListing.text(cancelled, why: memory)
    case .resumed(let max):
      // Who says that it is over is always the same; what says so matters.
      let reason = note.cause.map { " (\($0.reason))" } ?? ""
      return "thumbjob: memory \(note.level)\(reason): going on, \(max) at once"
    case .oneAtATime: return "thumbjob: \(memory) still, none of it ours: going on, one at a time"
    case .widened(let max): return "thumbjob: \(memory) still: \(max) at once"
    case .lostSource:
      return "thumbjob: memory pressure: \(note.cause.map { "\($0)" } ?? ""); from here on what is held is measured"
    case .none: return "thumbjob: \(memory)"
    }
  }

  /// Where pressure is listened for, and why not elsewhere. Nil where there is nothing to say.
  ///
  /// - Parameter isVerbose: without it, only what somebody asked for and does not get.
  static func text(_ reports: [PressureSignalReport], isVerbose: Bool) -> String? {
    let told = reports.filter { isVerbose || ($0.signals == .systemd && !$0.isUsable && $0.isRequested) }
    if told.isEmpty { return isVerbose ? "memory pressure is not watched" : nil }
    return told.map { "memory pressure " + ($0.isUsable ? "from " : "not from ") + "\($0)" }.joined(separator: "\n")
  }
}
