import BoundedQueue
import Files
import Synchronization
import TraceRecording

/// An operation on one source of a job.
class SourceOperation: BoundedOperation, @unchecked Sendable {  // an atomic flag; the rest is constant
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

  let source: Source
  /// The place of its thumbnails, from ``OutputPlan``.
  let place: Path
  /// How often memory pressure has cancelled the work on this source.
  let timesCancelled: Int
  let shared: Shared
  private let requeued = Atomic(false)

  /// - Parameters:
  ///   - detail: follows the path of the source in the title; may be empty.
  ///   - place: the place of its thumbnails, from ``OutputPlan``.
  ///   - timesCancelled: how often memory pressure has cancelled the work on this source.
  init(_ work: SourceWork, _ source: Source, detail: String = "", place: Path, timesCancelled: Int, shared: Shared) {
    (self.source, self.place, self.timesCancelled, self.shared) = (source, place, timesCancelled, shared)
    let path = source.path.printable
    super.init(title: "\(work.rawValue) \(path)\(detail)", kind: work.rawValue, subject: path)
  }

  /// Whether the operation has had a reservation.
  var hasHeldMemory: Bool { preconditionFailure("\(type(of: self)) must override hasHeldMemory") }

  /// Whether a new operation continues the work of this one, which memory pressure has cancelled. Those that depend on this
  /// one see the final value.
  var isRequeued: Bool { requeued.load(ordering: .acquiring) }

  func markRequeued() { requeued.store(true, ordering: .releasing) }

  /// A new operation that continues the work of this one.
  func again(timesCancelled: Int) -> SourceOperation {
    preconditionFailure("\(type(of: self)) must override again(timesCancelled:)")
  }
}
