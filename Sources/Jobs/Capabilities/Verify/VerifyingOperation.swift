import BoundedQueue
import Files
import Locking
import PictureMaking
import Sourcing

/// Compares all bytes of a source, whose thumbnails seem to be up to date, with the hash that the ledger knows.
final class VerifyingOperation: SourceOperation, @unchecked Sendable {  // `found` has a lock; the rest is constant
  /// Nil if the ledger knows none. Then the source counts as unchanged.
  private let known: UInt64?
  private let found = Locked<UInt64?>(nil)
  private let seen = Locked(SourceFindings())

  /// - Parameter known: the hash that the ledger knows; nil if it knows none.
  init(_ task: SourceTask, known: UInt64?, memory: MemoryPlan) {
    self.known = known
    super.init(.verify, task, memory: memory)
  }

  override var hasHeldMemory: Bool { false }

  override var success: SourceTask.Ending {
    guard let hash = found.withLock({ $0 }) else { preconditionFailure("a comparison without a hash has succeeded") }
    return .verified(hash: hash, isUnchanged: known == nil || hash == known)
  }

  /// The version that was read; none if it has changed meanwhile.
  override var findings: SourceFindings { seen.withLock { $0 } }

  override func execute() throws {
    report(stage: "comparing")
    let file = try SourceFile(source.path)
    var done = 0
    let hash = try file.hash { bytes in
      try checkCancelled()
      done += bytes
      reportProgress(Double(done) / Double(max(1, file.size)))
    }
    found.withLock { $0 = hash }
    if !file.hasChanged { seen.withLock { $0.file = file.version } }
  }
}
