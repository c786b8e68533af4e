import Files
import Ledger
import Locking
import Places
import Sourcing

/// Keeps the thumbnails of sources that it recognizes by their contents: of one that has only got another time, as in a copy,
/// and of one that was moved. Its thumbnails are moved then, not made again.
///
/// *Concurrency*: from any thread.
final class Recognizing: JobCapability {
  private let ledger: JobLedger
  /// Knows which sources are gone.
  private let pruning: Pruning
  private let shared: ThumbnailOperation.Shared
  /// The absolute paths of the source folders.
  private let folders: [Path]
  private let moved = Locked(0)

  init?(_ parts: JobParts) {
    guard !parts.isRead, parts.settings.bucketOutputs.isEmpty,
      let ledger = parts.capabilities.first(of: JobLedger.self),
      let pruning = parts.capabilities.first(of: Pruning.self)
    else { return nil }
    (self.ledger, self.pruning, shared) = (ledger, pruning, parts.shared)
    folders = parts.settings.sources.compactMap { if case .path(let path) = $0 { path.absolute } else { nil } }
  }

  func admit(_ candidate: inout Candidate, in engine: Engine) {
    guard case .make = candidate.verdict, !candidate.isForced, candidate.source.isLocal,
      let recognized = touched(candidate) ?? moved(candidate)
    else { return }
    candidate.verdict = .start(
      SourceTask(source: candidate.source, place: candidate.place, work: .recognize(recognized)))
  }

  private func touched(_ candidate: Candidate) -> RecognizedSource? {
    guard let entry = candidate.entry, let hash = entry.hash else { return nil }
    if ledger.isKnownFailure(entry), entry.version?.bytes == candidate.status.map({ Int($0.st_size) }) {
      return RecognizedSource(results: .failure(entry), hash: hash)
    }
    guard candidate.isTouched, case .made = entry.outcome, let files = candidate.files, let looks = entry.looks else {
      return nil
    }
    return RecognizedSource(results: .own(files), hash: hash, looks: looks)
  }

  private func moved(_ candidate: Candidate) -> RecognizedSource? {
    guard let status = candidate.status, shared.outputs.allSatisfy(\.isMirrored),
      candidate.found.joined().allSatisfy({ $0 == nil })
    else { return nil }
    for (source, entry) in ledger.entries(like: status) where pruning.isGone(source, entry.version) {
      guard let hash = entry.hash else { continue }
      if ledger.isKnownFailure(entry) { return RecognizedSource(results: .failure(entry), hash: hash) }
      guard case .made(let count, let first?) = entry.outcome, let looks = entry.looks,
        count == candidate.found.joined().count, let place = shared.outputs[0].place(ofFirst: first, of: source)
      else { continue }
      return RecognizedSource(results: .ofGone(source, at: place, isOfJob: isOfJob(source)), hash: hash, looks: looks)
    }
    return nil
  }

  /// Whether the job would find a source, at an absolute path, if it were there.
  private func isOfJob(_ source: Path) -> Bool { folders.contains { source.below($0) != nil } }

  func operation(for task: SourceTask) -> SourceOperation? {
    guard case .recognize(let recognized) = task.work else { return nil }
    return RecognizingOperation(task, recognized, shared: shared)
  }

  func examine(_ operation: SourceOperation, _ ending: inout SourceTask.Ending, in engine: Engine) {
    guard let operation = operation as? RecognizingOperation else { return }
    if case .failure(let entry) = operation.recognized.results, case .failed(.earlier) = ending,
      let file = operation.findings.file
    {
      return ledger.record(failure: entry, of: operation.source, file)
    }
    guard let kept = operation.kept else { return }
    if case .ofGone(let path, _, _) = operation.recognized.results {
      moved.withLock { $0 += 1 }
      // Those of other sizes may be left, which only pruning removes.
      if kept.isMoved, !pruning.hasThumbnails(of: path) { ledger.forget(path) }
    }
    ledger.recordKept(
      operation.source, kept.file, operation.recognized, thumbnails: kept.count, first: kept.first,
      kept.states)
  }

  func tell(_ report: inout JobReport) { report.moved = moved.withLock { $0 } }
}
