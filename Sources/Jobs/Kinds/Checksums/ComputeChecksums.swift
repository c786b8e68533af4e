import Files
import Foundation
import Places
import Sourcing

/// Computes the checksum of each source. All sources have a line each, so none has to wait for the place of another.
///
/// *Concurrency*: immutable.
struct ComputeChecksums: JobKind {
  /// Nil if the job makes no list.
  let place: ChecksumPlace?
  let shared: ChecksumOperation.Shared
  let isDryRun: Bool

  func placement(of source: inout Source) -> OutputPlan.Placement { .place(source.relativePath) }

  func look(at candidate: inout Candidate) {
    guard let status = candidate.status, place?.isList(candidate.source.path, status) == true else { return }
    candidate.verdict = .passOver
  }

  func judge(_ candidate: inout Candidate) { candidate.verdict = isDryRun ? .planned : .make }

  func operation(for task: SourceTask) -> SourceOperation { ChecksumOperation(task, shared: shared) }
}
