import BoundedQueue
import Files
import Locking
import Marks
import PictureMaking
import Places
import Sourcing

/// Compares all bytes of a source with known contents. If they are the same, it gives the thumbnails of these the time of the
/// source, or moves them to its places, or fails as they have. If it cannot, the thumbnails are made.
final class RecognizingOperation: SourceOperation, @unchecked Sendable {  // a lock; the rest is constant
  /// The thumbnails that were kept.
  struct Kept {
    /// The version of the source.
    let file: SourceFile.Version
    let count: Int
    /// The place of the first in the first output.
    let first: Path
    /// The states of all together.
    let states: FileState
    /// Whether they are no longer in other places.
    let isMoved: Bool
  }

  let recognized: RecognizedSource
  private let outputs: [ThumbnailOutput]
  private let result = Locked<(hash: UInt64, kept: Kept?)?>(nil)
  private let found = Locked(SourceFindings())

  init(_ task: SourceTask, _ recognized: RecognizedSource, shared: ThumbnailOperation.Shared) {
    (self.recognized, outputs) = (recognized, shared.outputs)
    super.init(.recognize, task, memory: shared.memory)
  }

  override var hasHeldMemory: Bool { false }

  override var success: SourceTask.Ending {
    guard let result = result.withLock({ $0 }) else { preconditionFailure("a comparison without a hash has succeeded") }
    return .verified(hash: result.hash, isUnchanged: result.kept != nil)
  }

  /// Nil if the thumbnails have to be made, and before the operation has succeeded.
  var kept: Kept? { result.withLock { $0?.kept } }

  override var findings: SourceFindings { found.withLock { $0 } }

  override func execute() throws {
    let (file, hash) = try hashWhole()
    let isSame = hash == recognized.hash && !file.hasChanged
    found.withLock { $0.file = file.version }
    if isSame, case .failure(let entry) = recognized.results, case .failed(let kind, let reason) = entry.outcome {
      throw SourceFailure.earlier(kind: kind, reason: reason, first: entry.since, last: entry.time)
    }
    let kept = isSame ? try keep(file) : nil
    result.withLock { $0 = (hash, kept) }
  }

  private func keep(_ file: SourceFile) throws -> Kept? {
    report(stage: "writing")
    let contents = try file.contents()
    // Those there may be of other contents: a run may not have been able to write the ledger.
    let former = if case .ofGone(_, let former, _) = recognized.results { former } else { place }
    let looks = ThumbnailMark.looks(together: outputs.flatMap { $0.looks(of: source, former) })
    guard looks != nil, looks == recognized.looks else { return nil }
    let files = outputs.map { $0.files(of: source, place) }
    if case .own(let state) = recognized.results {
      let there = files.joined().compactMap { $0.map { FileState($0) } }
      guard FileState.together(there) == state else { return nil }
    }
    var states: [FileState] = []
    for (output, files) in zip(outputs, files) {
      let kept =
        switch recognized.results {
        case .failure: nil as [FileState]?
        case .own: output.renewThumbnails(of: source, place, contents, files: files, modified: file.modified)
        case .ofGone(let path, let former, _):
          output.copyThumbnails(of: path, former, to: source, place, contents, modified: file.modified)
        }
      guard let kept else { return nil }
      states += kept
    }
    var isMoved = false
    // Only now, so that the thumbnails are never missing in both places.
    if case .ofGone(let path, let former, isOfJob: true) = recognized.results {
      isMoved = outputs.map { $0.removeThumbnails(of: path, former) }.allSatisfy { $0 }
    }
    let first = outputs[0].place(of: source, place, outputs[0].options.renditions[0])
    return Kept(
      file: file.version, count: states.count, first: first, states: FileState.together(states), isMoved: isMoved)
  }
}
