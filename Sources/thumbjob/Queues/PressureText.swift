import BoundedQueue
import Jobs
import MemoryPressure
import PictureMaking

/// Messages about memory pressure.
enum PressureText {
  /// - Parameter namesLimit: the most cancelled operations to name.
  static func text(_ note: PressureNote, namesLimit: Int) -> StyledText {
    func line(_ text: String) -> StyledText { StyledText("thumbjob: \(text)", note.level == .normal ? nil : .warning) }
    let memory = "memory \(note.level)" + (note.cause.map { " (\($0))" } ?? "")
    switch note.action {
    case .paused: return line("\(memory): starting nothing until it is normal")
    case .requeued(let cancelled):
      return QueueListing.text(
        cancelled, why: memory, fate: ", to be made again when it is normal", namesLimit: namesLimit)
    // The summary names the cancelled sources.
    case .stopped: return line("\(memory): cancelling what runs and waits")
    case .resumed(let max):
      // A return to normal always has the same origin, so only its reason is shown.
      let reason = note.cause.map { " (\($0.reason))" } ?? ""
      return line("memory \(note.level)\(reason): continuing, at most \(max) at once")
    case .oneAtATime:
      return line("memory still \(note.level), because of other processes: continuing, one at a time")
    case .widened(let max): return line("memory still \(note.level): now at most \(max) at once")
    case .signalsLost:
      return line("memory pressure: \(note.cause.map { "\($0)" } ?? ""); the memory in use is measured instead")
    case .none: return line(memory)
    }
  }

  /// Names the pressure signals in use, and gives the reason why others are not. Nil if there is nothing to report.
  ///
  /// - Parameter isVerbose: if false, only requested signals that cannot be used are reported.
  static func text(_ reports: [PressureSignalReport], isVerbose: Bool) -> String? {
    let shown = reports.filter { isVerbose || ($0.signals == .systemd && !$0.isUsable && $0.isRequested) }
    if shown.isEmpty { return isVerbose ? "memory pressure is not watched" : nil }
    return shown.map { "memory pressure " + ($0.isUsable ? "from " : "not from ") + "\($0)" }.joined(separator: "\n")
  }
}
