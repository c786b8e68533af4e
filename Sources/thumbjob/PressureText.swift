import BoundedQueue
import ThumbnailJobs

/// What a person is told when memory gets tight or free again.
enum PressureText {
  static func text(_ note: PressureNote) -> String {
    let memory = "memory \(note.level)" + (note.cause.map { " (\($0))" } ?? "")
    return switch note.action {
    case .paused: "thumbjob: \(memory): starting nothing until it is normal"
    case .requeued(let cancelled):
      QueueListing.text(cancelled, by: memory, fate: ", to be done again when it is normal")
    case .stopped(let cancelled): QueueListing.text(cancelled, by: memory)
    case .resumed(let max): "thumbjob: \(memory): going on, \(max) at once"
    case .oneAtATime: "thumbjob: \(memory) still, none of it ours: going on, one at a time"
    case .widened(let max): "thumbjob: \(memory) still: \(max) at once"
    case .none: "thumbjob: \(memory)"
    }
  }
}
