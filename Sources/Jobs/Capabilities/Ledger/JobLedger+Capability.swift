import Files
import Foundation
import Ledger

// The ledger as a capability: it spares the work on sources that it remembers, and remembers the results of others.
extension JobLedger: SourceMemory {
  convenience init?(_ parts: JobParts) {
    guard parts.hasSources else { return nil }
    self.init(parts.outputs, parts.settings) { [onEvent = parts.onEvent] in onEvent(.ledger($0)) }
  }

  func start(_ engine: Engine) { lookAgain() }

  func recall(_ candidate: inout Candidate, in engine: Engine) {
    candidate.entry = entry(of: candidate.source)
    guard candidate.verdict == nil, let status = candidate.status, let files = candidate.files,
      let entry = candidate.entry, isMade(entry, status, files)
    else { return }
    correctOthers(candidate.source, entry)
    candidate.foundUpToDate(isRemembered: true)
  }

  func admit(_ candidate: inout Candidate, in engine: Engine) {
    let source = candidate.source
    guard source.isLocal, !candidate.isRemembered else { return }
    judgeAgain(&candidate)
    guard case .make = candidate.verdict else { return }
    switch earlierFailure(of: source, candidate.entry) {
    case .failed(let failure, let file): candidate.verdict = .refuse(failure, file)
    case .suspect(let deaths):
      // One death has mostly another cause. After two, the fence is worth that a JPEG's samples may differ a little there.
      candidate.verdict = .postpone(
        SourceTask(source: source, place: candidate.place, work: .make, isSuspect: deaths > 1))
    case nil: break
    }
  }

  /// Remembers what was found up to date, unless it is no proof that the source is sound.
  private func judgeAgain(_ candidate: inout Candidate) {
    guard candidate.isUpToDate, let status = candidate.status else { return }
    // Results that are older than a fault of the source say nothing of it now.
    if let entry = candidate.entry, hasFailed(entry, status) { return candidate.foundOutdated() }
    guard let files = candidate.files, let results = candidate.results else { return }
    recordUpToDate(candidate.source, status, candidate.entry, thumbnails: results.count, first: results.first, files)
  }

  func ended(_ end: SourceEnd) {
    guard end.operation == nil else { return record(end) }
    if case .failed(let failure) = end.result, failure.kind == .collision { lost(end.source) }
  }

  private func record(_ end: SourceEnd) {
    record(end.report, end.findings.file, hash: end.findings.hash, digest: end.findings.digest)
  }

  func tick() { write() }

  func finish(_ engine: Engine, _ walk: SourceWalk?) {
    finish()
    if let problem { onProblem(problem) }
  }
}
