import Files
import Foundation
import Marks
import PictureMaking
import Places
import Sourcing
import TraceRecording

/// Makes thumbnails of each source, in all sizes of all outputs.
///
/// *Concurrency*: immutable.
struct MakeThumbnails: JobKind {
  private let outputs: [ThumbnailOutput]
  private let shared: ThumbnailOperation.Shared
  /// What the places of the outputs tell of a source.
  private let factKinds: NameFacts.Kinds

  /// - Parameter parts: with the capabilities.
  init(_ parts: JobParts) {
    (outputs, shared) = (parts.outputs, parts.shared)
    factKinds = outputs.reduce(into: []) { $0.formUnion($1.factKinds) }
  }

  func placement(of source: inout Source) -> OutputPlan.Placement {
    source.nameFacts = NameFacts(of: source, factKinds)
    source.isContested = shared.owners.plan.isContested(source)
    return shared.owners.plan.placement(of: source)
  }

  func look(at candidate: inout Candidate) {
    let files = files(of: candidate)
    candidate.found = files
    let isItself = files.joined().contains { file in
      file.flatMap { file in candidate.status.map { FileIdentity(file) == FileIdentity($0) } } ?? false
    }
    candidate.files = isItself ? nil : Self.state(of: files)
  }

  func judge(_ candidate: inout Candidate) {
    guard let status = candidate.status else { return }
    var files = candidate.found
    for _ in 1...2 {
      var (isUpToDate, isStale) = (true, false)
      var refusal: SourceFailure?
      for (output, files) in zip(outputs, files) {
        switch output.state(of: candidate.source, candidate.place, status, files: files, owners: shared.owners) {
        case .isSource: return refuse(&candidate, .placeIsSource)
        case .isTaken(let place): refusal = refusal ?? .output(OutputError(.taken, output.path.appending(place)))
        case .upToDate: break
        case .touched: isUpToDate = false
        case .missing, .stale: (isUpToDate, isStale) = (false, true)
        }
      }
      guard isUpToDate else {
        candidate.isTouched = !isStale && refusal == nil
        return
      }
      if let refusal {
        if !candidate.isForced { refuse(&candidate, refusal) }
        return
      }
      // Their marks may have been renewed, or another run has replaced them: only files whose marks were read count.
      let former = Self.state(of: files)
      files = self.files(of: candidate)
      candidate.files = Self.state(of: files)
      if let former, former == candidate.files {
        candidate.results = (files.joined().count, firstPlace(of: candidate))
        break
      }
    }
    candidate.foundUpToDate()
  }

  /// Refuses a source, unless it is a thumbnail beside the photos, which its operation passes over.
  private func refuse(_ candidate: inout Candidate, _ failure: SourceFailure) {
    if ThumbnailMark(of: candidate.source.path, in: AT_FDCWD) == nil { candidate.verdict = .refuse(failure, nil) }
  }

  func operation(for task: SourceTask) -> SourceOperation { ThumbnailOperation(task, shared: shared) }

  /// The place of the first thumbnail in the first output.
  private func firstPlace(of candidate: Candidate) -> Path {
    outputs[0].place(of: candidate.source, candidate.place, outputs[0].options.renditions[0])
  }

  private func files(of candidate: Candidate) -> [[stat?]] {
    outputs.map { $0.files(of: candidate.source, candidate.place) }
  }

  /// The state of all these files together; nil if one is missing.
  private static func state(of files: [[stat?]]) -> FileState? {
    let there = files.joined().compactMap { $0 }
    return there.count == files.joined().count ? FileState.together(there.map { FileState($0) }) : nil
  }
}
