import BoundedQueue
import Files
import PictureMaking
import Sourcing

/// An operation on one source of a job.
class SourceOperation: BoundedOperation, @unchecked Sendable {  // constant
  let task: SourceTask
  /// The memory of the job.
  private let memory: MemoryPlan

  /// - Parameter detail: follows the path of the source in the title; may be empty.
  init(_ work: SourceWork, _ task: SourceTask, detail: String = "", memory: MemoryPlan) {
    (self.task, self.memory) = (task, memory)
    let path = task.source.path.printable
    super.init(title: "\(work.rawValue) \(path)\(detail)", kind: work.rawValue, subject: path)
  }

  final var source: Source { task.source }
  final var place: Path { task.place }

  // MARK: For subclasses

  /// Whether the operation has had a reservation.
  var hasHeldMemory: Bool { preconditionFailure("\(type(of: self)) must override hasHeldMemory") }

  /// What the operation has found out; called once it has succeeded.
  var success: SourceTask.Ending { preconditionFailure("\(type(of: self)) must override success") }

  /// Called once it has failed.
  func ending(after failure: SourceFailure) -> SourceTask.Ending { .failed(failure) }

  /// What the following operation on the source needs of this one's work.
  var taskSoFar: SourceTask { task }

  /// What the operation has found out about its source.
  var findings: SourceFindings { SourceFindings() }

  /// Prepares what the operation that follows needs. Called before that is made.
  func prepareNext(after ending: SourceTask.Ending) {}

  /// Lets go of what was brought here: its place on the disk is for others, which may wait for it. Called if no operation
  /// follows.
  func release() {}

  // MARK: Called by the engine

  /// How the operation has ended.
  final func ending(_ outcome: Outcome) -> SourceTask.Ending {
    switch outcome {
    case .succeeded: success
    case .failed(let error): ending(after: SourceFailure(error, plan: memory))
    case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason):
      .cancelled(reason, hasHeldMemory: hasHeldMemory)
    }
  }
}
