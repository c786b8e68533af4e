import BoundedQueue
import Files
import TraceRecording

/// An operation on one source of a job.
class SourceOperation: BoundedOperation, @unchecked Sendable {  // constant
  /// The values that all operations of a job share.
  struct Shared: Sendable {
    let outputs: [ThumbnailOutput]
    let owners: Owners
    let memory: MemoryPlan
    let makers = MakerPool()
    /// Decodes other formats than JPEG.
    let decoders: PictureDecoders
    /// How many more times to try a source after a failure that may be temporary.
    let retries: Int
    let trace: TraceRecorder?
    /// Whether to compute the hash of each source that is made.
    var hashesSources = false
    /// Nil in a dry run.
    let underWay: UnderWay?
    /// Receives every thumbnail that is in place.
    let onThumbnail: ThumbnailHandler?
  }

  let task: SourceTask
  let shared: Shared

  /// - Parameter detail: follows the path of the source in the title; may be empty.
  init(_ work: SourceWork, _ task: SourceTask, detail: String = "", shared: Shared) {
    (self.task, self.shared) = (task, shared)
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

  /// Lets go of what was fetched: its place on the disk is for others, which may wait for it.
  func releaseFetch() {}

  /// Lets go of what was fetched, and has the operation that follows fetch it again.
  ///
  /// - Parameter whole: whether all of it is needed.
  func renewFetch(whole: Bool) {}

  // MARK: Called by the job

  /// How the operation has ended.
  final func ending(_ outcome: Outcome) -> SourceTask.Ending {
    switch outcome {
    case .succeeded: success
    case .failed(let error): ending(after: SourceFailure(error, plan: shared.memory))
    case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason):
      .cancelled(reason, hasHeldMemory: hasHeldMemory)
    }
  }
}
