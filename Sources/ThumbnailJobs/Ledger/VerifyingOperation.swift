import BoundedQueue
import Files
import Locking

/// Compares all bytes of a source, whose thumbnails seem to be up to date, with the hash that the ledger knows.
///
/// If they differ, ``again(timesCancelled:)`` makes the operation for new thumbnails, otherwise the one that describes the
/// source for the joins of the job.
final class VerifyingOperation: SourceOperation, @unchecked Sendable {  // `found` has a lock; the rest is constant
  /// Nil if the ledger knows none. Then the source counts as unchanged.
  private let known: UInt64?
  private let found = Locked<UInt64?>(nil)

  /// - Parameter known: the hash that the ledger knows; nil if it knows none.
  init(source: Source, place: Path, timesCancelled: Int = 0, known: UInt64?, shared: Shared) {
    self.known = known
    super.init(.verify, source, place: place, timesCancelled: timesCancelled, shared: shared)
  }

  /// The hash of the source; nil before the operation has succeeded.
  var contentHash: UInt64? { found.withLock { $0 } }

  var isUnchanged: Bool { contentHash == known || known == nil }

  override var hasHeldMemory: Bool { false }

  override func again(timesCancelled: Int) -> SourceOperation {
    if contentHash == nil {
      return VerifyingOperation(
        source: source, place: place, timesCancelled: timesCancelled, known: known, shared: shared)
    }
    return isUnchanged
      ? DescribingOperation(source: source, place: place, timesCancelled: timesCancelled, shared: shared)
      : ThumbnailOperation(source: source, place: place, timesCancelled: timesCancelled, shared: shared)
  }

  override func execute() throws {
    report(stage: "comparing")
    let file = try SourceFile(source.path)
    var done = 0
    let hash = try file.hash { bytes in
      try checkCancelled()
      done += bytes
      report(fraction: Double(done) / Double(max(1, file.size)))
    }
    found.withLock { $0 = hash }
  }
}
