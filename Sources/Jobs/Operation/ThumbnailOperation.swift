import BoundedQueue
import Files
import Foundation
import Locking
import Marks
import PictureMaking
import Places
import Sourcing
import Synchronization
import Thumbnails
import TraceRecording

/// Makes all thumbnails of one source.
///
/// It opens the source and checks its type, decodes it once for each output, and puts the thumbnails of all sizes in
/// place one by one. If it is cancelled, it ends within a few rows of pixels and leaves no temporary file.
///
/// A source from the network is fetched before, by a ``FetchOperation`` on which this one depends.
final class ThumbnailOperation: SourceOperation, @unchecked Sendable {  // locks guard what changes
  /// The values that all operations of a job that makes thumbnails share.
  struct Shared: Sendable {
    let outputs: [ThumbnailOutput]
    let owners: Owners
    let memory: MemoryPlan
    var makers = MakerPool()
    /// Decodes other formats than JPEG.
    let decoders: PictureDecoders
    /// How many more times to try a source after a failure that may be temporary.
    let retries: Int
    let trace: TraceRecorder?
    var hashing = SourceHashing.never
    /// Whether the job makes something of all thumbnails, which tells of each source.
    var describesSources = false
    /// Whether it tells the SHA-256 digest of each.
    var digestsSources = false
    /// Nil in a dry run.
    let underWay: UnderWay?
    /// Receives every thumbnail that is in place.
    let onThumbnail: ThumbnailHandler?
  }

  /// The work so far.
  private struct Progress {
    var findings = SourceFindings()
    var result: SourceResult?
    /// Whether the thumbnails are up to date, as the server of the source or the bucket of the thumbnails says.
    var isUnchanged = false
    /// Whether a source that was fetched in part has faults, which only the whole of it tells.
    var needsWhole = false
    /// Whether the operation has had a reservation.
    var hasHeldMemory = false
  }

  let shared: Shared
  private let progress = Locked(Progress())

  /// - Parameter task: the operation that fetches its source is submitted already.
  init(_ task: SourceTask, shared: Shared) {
    self.shared = shared
    let sizes = shared.outputs.flatMap(\.options.sizes).map(\.name).joined(separator: ", ")
    super.init(.thumbnail, task, detail: " → \(sizes)", memory: shared.memory)
  }

  override var hasHeldMemory: Bool { found.hasHeldMemory }

  override var success: SourceTask.Ending {
    let found = found
    if found.isUnchanged { return .unchanged }
    guard let result = found.result else { preconditionFailure("\(title) has succeeded without a result") }
    return .made(result)
  }

  override func ending(after failure: SourceFailure) -> SourceTask.Ending {
    found.needsWhole ? .incomplete : .failed(failure)
  }

  override var taskSoFar: SourceTask {
    var task = super.taskSoFar
    task.thumbnails = found.findings.thumbnails
    return task
  }

  /// What was found so far. It is complete when the operation has ended.
  override var findings: SourceFindings { found.findings }

  /// The results so far. They are complete when the operation has ended.
  private var found: Progress { progress.withLock { $0 } }

  override func execute() throws {
    do {
      let result = try retrying(shared.retries) { [self] failure in
        failure.mayBeTemporary && !found.needsWhole
      } _: {
        try shared.trace.span("ThumbnailOperation.makeAll") {
          guard let underWay = shared.underWay, source.address == nil else { return try makeAll() }
          return try underWay.run(source.path) { try makeAll() }
        }
      }
      progress.withLock { $0.result = result }
      if case .made = result { for output in shared.outputs { output.forgetFailure(of: source) } }
    } catch let failure as SourceFailure {
      if failure.isForGood {
        if shared.hashing != .never { hashAfterFailure() }
        noteFailure()
      }
      throw failure
    }
  }

  /// Larger sources that have failed are tried again under another path.
  private static let largestHashed = 64 << 20

  /// Hashes a source that has failed for good, so that it is known under another path.
  private func hashAfterFailure() {
    guard source.isLocal, let file = try? SourceFile(source.path), file.size <= Self.largestHashed,
      let version = found.findings.file, version.state == file.version.state,
      let hash = try? file.hash(step: { _ in try checkCancelled() }), !file.hasChanged
    else { return }
    progress.withLock { $0.findings.hash = hash }
  }

  /// Tells other programs that look for the thumbnails.
  private func noteFailure() {
    guard source.isLocal, let version = found.findings.file else { return }
    for output in shared.outputs { output.noteFailure(of: source, size: version.bytes, modified: version.modified) }
  }

  private func makeAll() throws -> SourceResult {
    report(stage: ThumbnailStage.reading.rawValue)
    guard let file = try open() else {
      progress.withLock { $0.isUnchanged = true }
      return .made
    }
    progress.withLock { progress in
      progress = Progress(findings: SourceFindings(file: file.version), hasHeldMemory: progress.hasHeldMemory)
    }
    file.isHashed = shared.hashing != .never
    switch try file.content(of: source) {
    case .other(let format): return .notImage(format: format)
    case .thumbnail: return .thumbnail
    case .notAnImage(let error): throw error
    case .image(let type):
      guard type.isReadable else {
        if source.origin == .argument { throw ThumbnailError.unsupportedType(type) }
        return .unsupported(type)
      }
      if source.address == nil, try isKept(file) {
        progress.withLock { $0.isUnchanged = true }
        return .made
      }
      // Of a source from the network, a later run reads nothing, and would not know it.
      if shared.describesSources, source.isLocal {
        progress.withLock { $0.findings.facts = file.facts(type) }
      }
      do { return try makeAll(of: file, type) } catch let error as ThumbnailError {
        progress.withLock { $0.needsWhole = (file.isCut || file.lacksParts) && error != .cancelled }
        throw error
      }
    }
  }

  /// Whether thumbnails elsewhere than in folders are up to date. Those in folders the walk has looked at.
  private func isKept(_ file: SourceFile) throws -> Bool {
    guard shared.outputs[0].destination != nil else { return false }
    report(stage: "comparing")
    let found = try ThumbnailOutput.kept(in: shared.outputs, of: source, place) { self.isCancelled }
    // After a requeue, this run may have made them.
    guard let found, task.timesCancelled == 0 else { return false }
    return try isSameTime(found.modified, file.thumbnailTime) && found.contents == file.contents()
  }

  /// Opens the source; nil if its server says that its thumbnails are up to date.
  private func open() throws -> SourceFile? {
    switch try fetched() {
    case nil: return try SourceFile(source.path)
    case .unchanged: return nil
    case .file(let file): return try SourceFile(file)
    }
  }

  private func makeAll(of file: SourceFile, _ type: ImageType) throws -> SourceResult {
    // A source that is irregular for one output is irregular for all that follow.
    var decoding = shared.decoders.firstDecoding(isSuspect: task.isSuspect)
    var refusal: OutputError?
    var isRead = false
    for output in shared.outputs {
      if let clash = output.clash(of: source, place) {
        refusal = refusal ?? clash
        continue
      }
      let picture = try shared.trace.span("SourcePicture.read") {
        try SourcePicture(file, type, for: output.options, monitor: self)
      }
      try checkParts(of: file)
      progress.withLock { $0.findings.shortfall = $0.findings.shortfall ?? picture.shortfall }
      guard output.folder != nil else {
        let planned = try plan(output, picture, picture.bytesNeeded(for: output.options, decoding: .sparing))
        progress.withLock { $0.findings.thumbnails += planned }
        continue
      }
      do {
        try picture.attempt(
          shared.decoders, shared.memory, for: output.options, &decoding, isSuspect: task.isSuspect, monitor: self
        ) { picture, decoding in try make(output, of: file, type, picture, decoding) }
        isRead = isRead || picture.isReadByDecoder
      } catch let error as OutputError where error.isOnlyOfPlace {
        // The other outputs have places of their own.
        refusal = refusal ?? error
      }
    }
    if let refusal { throw refusal }
    if shared.hashing.includes(file, isRead: isRead) {
      let hash = try file.hash { _ in try checkCancelled() }
      // That of later contents would pass for that of what the thumbnails show.
      if !file.hasChanged { progress.withLock { $0.findings.hash = hash } }
    }
    if shared.digestsSources, source.isLocal {
      report(stage: "computing the digest")
      let digest = try SHA256Digest(of: file) { _ in try checkCancelled() }
      progress.withLock { $0.findings.digest = digest }
    }
    return .made
  }

  /// Reserves the memory for an output's thumbnails and makes them.
  private func make(
    _ output: ThumbnailOutput, of file: SourceFile, _ type: ImageType, _ picture: SourcePicture, _ decoding: Decoding
  ) throws {
    report(stage: "reserving")
    let needed = picture.bytesNeeded(for: output.options, decoding: decoding)
    // While this waits for memory, the operation holds neither a header nor a maker.
    try withReservation(of: shared.memory.reservation(for: needed)) {
      progress.withLock { $0.hasHeldMemory = true }
      try shared.trace.span("ThumbnailOperation.make") { try make(output, of: file, type, from: picture, decoding) }
    }
  }

  private static let changeWarning =
    "changed, or was removed, while it was read; if it is there, the next run makes its thumbnails again"

  private func make(
    _ output: ThumbnailOutput, of file: SourceFile, _ type: ImageType, from picture: SourcePicture,
    _ decoding: Decoding
  ) throws {
    // Before the picture is read, so that contents that are written meanwhile do not pass for those of the thumbnail.
    let contents = try file.contents()
    try shared.makers.withMaker { maker in
      let warnings = try picture.makeThumbnails(
        maker, shared.decoders, options: output.options, decoding: decoding, monitor: self
      ) { thumbnail in
        try checkCancelled()
        try checkParts(of: file)
        let description = thumbnail.placeholder.map {
          SourceDescription(pixels: picture.orientedPixels, orientation: picture.orientation, placeholder: $0)
        }
        progress.withLock { $0.findings.description = $0.findings.description ?? description }
        let slot = output.slot(of: source, place, thumbnail.rendition)
        let path = output.path.appending(slot.place)
        let made: MadeThumbnail
        if let earlier = task.thumbnails.first(where: { $0.path == path }) {
          made = earlier.asSize(thumbnail.size.name)
        } else if slot.isShared, let equal = progress.withLock({ $0.findings.thumbnails.last { $0.path == path } }) {
          made = equal.asSize(thumbnail.size.name)
        } else {
          report(stage: "writing")
          made = try shared.trace.span("ThumbnailOutput.publish") {
            try output.publish(
              thumbnail, of: source, to: place, contents: contents, description: description,
              photo: (file.size, type), modified: file.thumbnailTime, owners: shared.owners,
              isCancelled: { self.isCancelled })
          }
          shared.onThumbnail?(id, source.path, thumbnail)
        }
        progress.withLock { $0.findings.thumbnails.append(made) }
      }
      let told = file.lacksLastBit ? warnings.filter { $0 != ArrivingJPEG.warningOfMissingBit } : warnings
      progress.withLock { $0.findings.warnings = told + (file.hasChanged ? [Self.changeWarning] : []) }
    }
  }

  /// - Throws: `ThumbnailError` if something was read that was not fetched. Readers do without much that they cannot read.
  private func checkParts(of file: SourceFile) throws(ThumbnailError) {
    if file.lacksParts { throw .unreadable(ENODATA) }
  }

  /// The thumbnails of an output that a dry run reports.
  ///
  /// - Throws: `BudgetExceededError` if they would need more memory than one operation may reserve.
  private func plan(
    _ output: ThumbnailOutput, _ picture: SourcePicture, _ needed: Int
  ) throws(BudgetExceededError) -> [MadeThumbnail] {
    let budget = shared.memory.budget
    if needed > budget.largest { throw BudgetExceededError(needed: needed, budget: budget) }
    return output.options.renditions.map { rendition in
      MadeThumbnail(
        path: output.path.appending(output.place(of: source, place, rendition)), size: rendition.size.name,
        format: rendition.format, pixels: rendition.size.placement(for: picture.orientedPixels).pixels, bytes: 0)
    }
  }
}

extension ThumbnailOperation: ThumbnailMonitor {
  func entered(_ stage: ThumbnailStage) { report(stage: stage.rawValue) }

  func progressed(to fraction: Double) { reportProgress(fraction) }
}
