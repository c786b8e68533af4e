import BoundedQueue
import Files
import Locking
import PictureMaking
import Sourcing

/// Compares all bytes of a source, whose thumbnails seem to be up to date, with the hash that the ledger knows.
final class VerifyingOperation: SourceOperation, @unchecked Sendable {  // a lock; the rest is constant
  /// Nil if the ledger knows none. Then the source counts as unchanged.
  private let known: UInt64?
  private let found = Locked(SourceFindings())

  /// - Parameter known: the hash that the ledger knows; nil if it knows none.
  init(_ task: SourceTask, known: UInt64?, memory: MemoryPlan) {
    self.known = known
    super.init(.verify, task, memory: memory)
  }

  override var hasHeldMemory: Bool { false }

  override var success: SourceTask.Ending {
    guard let hash = findings.hash else { preconditionFailure("a comparison without a hash has succeeded") }
    return .verified(hash: hash, isUnchanged: known == nil || hash == known)
  }

  /// The hash, and the version that was read; no version if the source has changed meanwhile.
  override var findings: SourceFindings { found.withLock { $0 } }

  override func execute() throws {
    let (file, hash) = try hashWhole()
    let version = file.hasChanged ? nil : file.version
    found.withLock { $0 = SourceFindings(file: version, hash: hash) }
  }
}
