import Files
import PictureMaking

/// Compares the contents of sources that are up to date by size and time, and makes their results again if they differ.
///
/// *Concurrency*: from any thread.
final class Verifying: JobCapability {
  private let ledger: JobLedger
  private let memory: MemoryPlan

  convenience init?(_ parts: JobParts) {
    guard parts.settings.verify == .content, !parts.settings.dryRun,
      let ledger = parts.capabilities.first(of: JobLedger.self)
    else {
      return nil
    }
    self.init(ledger, parts.memory)
  }

  /// - Parameter ledger: remembers the contents.
  init(_ ledger: JobLedger, _ memory: MemoryPlan) { (self.ledger, self.memory) = (ledger, memory) }

  func admit(_ candidate: inout Candidate, in engine: Engine) {
    guard case .upToDate = candidate.verdict, candidate.source.isLocal else { return }
    candidate.verdict = .start(
      SourceTask(
        source: candidate.source, place: candidate.place, work: .verify(known: ledger.hash(of: candidate.source))))
  }

  func operation(for task: SourceTask) -> SourceOperation? {
    guard case .verify(let known) = task.work else { return nil }
    return VerifyingOperation(task, known: known, memory: memory)
  }

  func examine(_ operation: SourceOperation, _ ending: inout SourceTask.Ending, in engine: Engine) {
    guard case .verified(let hash, isUnchanged: true) = ending,
      let file = (operation as? VerifyingOperation)?.findings.file
    else { return }
    ledger.record(hash: hash, of: operation.source, file)
  }
}
