import Files
import Foundation
import Places
import Sourcing

/// Computes the checksum of each source. All sources have a line each, so none has to wait for the place of another.
///
/// A ``ChecksumOperation`` reads its source through one buffer into a ``SHA256Hasher``. The ``ChecksumFile`` collects a
/// ``ChecksumLine`` of each source, and writes their list in the ``ChecksumPlace``. The ``ChecksumLedger`` remembers the
/// digests for the next run.
///
/// *Concurrency*: immutable.
struct ComputeChecksums: JobKind {
  /// Nil if the job makes no list.
  private let place: ChecksumPlace?
  private let shared: ChecksumOperation.Shared
  private let isDryRun: Bool

  init(_ parts: JobParts) {
    (place, isDryRun) = (parts.list, parts.settings.dryRun)
    shared = ChecksumOperation.Shared(memory: parts.memory, retries: parts.settings.retries, trace: parts.trace)
  }

  func placement(of source: inout Source) -> OutputPlan.Placement { .place(source.relativePath) }

  func look(at candidate: inout Candidate) {
    guard let status = candidate.status, place?.isList(candidate.source.path, status) == true else { return }
    candidate.verdict = .passOver
  }

  func judge(_ candidate: inout Candidate) { candidate.verdict = isDryRun ? .planned : .make }

  func operation(for task: SourceTask) -> SourceOperation { ChecksumOperation(task, shared: shared) }
}
