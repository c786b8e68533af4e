import BoundedQueue
import Files
import Foundation
import Locking
import Synchronization
import SystemPackage
import Thumbnails
import TraceRecording

/// The operation of a job: every thumbnail of one source.
///
/// It opens the source, looks what it is, makes the sizes of each output from one decoding, and puts them in place one
/// by one. Cancelled at any moment it ends within a few rows and leaves no temporary file.
final class ThumbnailOperation: BoundedOperation, @unchecked Sendable {  // `findings` has its lock; the rest is fixed
  /// What all operations of a job share.
  struct Shared: Sendable {
    let outputs: [ThumbnailOutput]
    /// What operations may hold.
    let memory: MemoryPlan
    let makers = MakerPool()
    /// How often a source that failed is tried again.
    let retries: Int
    let trace: TraceRecorder?
    /// Shown every thumbnail that was put in place.
    let onThumbnail: Job.ThumbnailHandler?
  }

  /// What the work has found out so far.
  struct Findings: Sendable {
    var bytes = 0
    var thumbnails: [MadeThumbnail] = []
    var warnings: [String] = []
    var result: SourceResult?
    /// Whether any pixel was read.
    var hasHeldMemory = false
  }

  let source: Source
  let place: Path
  /// How often memory pressure has cancelled the work on this source.
  let timesCancelled: Int
  /// Thumbnails that were put in place before it was cancelled.
  private let alreadyMade: [MadeThumbnail]
  private let shared: Shared
  private let findings = Locked(Findings())

  /// - Parameters:
  ///   - place: where its thumbnails go, from `OutputPlan`.
  ///   - timesCancelled: how often memory pressure has cancelled the work on this source.
  ///   - thumbnails: what was in place by then.
  init(
    source: Source, place: Path, timesCancelled: Int = 0, thumbnails: [MadeThumbnail] = [], shared: Shared
  ) {
    self.source = source
    self.place = place
    self.timesCancelled = timesCancelled
    alreadyMade = thumbnails
    self.shared = shared
    let sizes = shared.outputs.flatMap(\.options.sizes).map(\.name).joined(separator: ", ")
    super.init(title: OperationTitle.text(source.path, sizes))
  }

  /// What has been found out; complete once the operation has ended.
  var found: Findings { findings.withLock { $0 } }

  override func execute() throws {
    for attempt in 0... {
      do {
        let result = try shared.trace.span("ThumbnailOperation.makeAll") { try makeAll() }
        return findings.withLock { $0.result = result }
      } catch let error as any Error & CustomStringConvertible {
        try checkCancelled()
        let failure = SourceFailure(error, in: shared.memory)
        guard attempt < shared.retries, failure.mayPass(error) else { throw failure }
        report(stage: "waiting to try again")
        try pause(milliseconds: 100 << min(attempt, 5))
      }
    }
  }

  private func makeAll() throws -> SourceResult {
    report(stage: ThumbnailStage.reading.rawValue)
    let file = try SourceFile(source.path)
    findings.withLock { $0 = Findings(bytes: file.size, hasHeldMemory: $0.hasHeldMemory) }
    switch try file.content(of: source) {
    case .other: return .passedOver
    case .notAnImage(let error): throw error
    case .image(.jpeg): break
    case .image(let type):
      if source.origin == .argument { throw ThumbnailError.unsupportedType(type) }
      return .notRead(type)
    }
    // What is irregular is so for every output.
    var decoding = Decoding.sparing
    for output in shared.outputs {
      let info = try shared.trace.span("ThumbnailMaker.readInfo") {
        try ThumbnailMaker.readInfo(of: file.bytes, for: output.options, monitor: self)
      }
      guard output.folder != nil else {
        let planned = try plan(output, info, info.bytesNeeded(for: output.options, decoding: .sparing))
        findings.withLock { $0.thumbnails += planned }
        continue
      }
      do {
        try make(output, of: file, info, decoding)
      } catch ThumbnailError.irregular {
        decoding = .whole
        try make(output, of: file, info, decoding)
      }
    }
    return .made
  }

  /// Makes an output's thumbnails with what that takes reserved.
  private func make(
    _ output: ThumbnailOutput, of file: SourceFile, _ info: SourceInfo, _ decoding: Decoding
  ) throws {
    report(stage: "reserving")
    let needed = info.bytesNeeded(for: output.options, decoding: decoding)
    // Nothing is held while this waits: not the header, and no maker.
    try withReservation(of: shared.memory.reservation(for: needed)) {
      findings.withLock { $0.hasHeldMemory = true }
      try shared.trace.span("ThumbnailOperation.make") { try make(output, of: file, decoding) }
    }
  }

  private func make(_ output: ThumbnailOutput, of file: SourceFile, _ decoding: Decoding) throws {
    try shared.makers.withMaker { maker in
      let info = try maker.makeThumbnails(
        of: file.bytes, options: output.options, decoding: decoding, monitor: self
      ) { thumbnail in
        try checkCancelled()
        let path = output.path.appending(output.place(place, size: thumbnail.size))
        let made: MadeThumbnail
        if let earlier = alreadyMade.first(where: { $0.path == path }) {
          made = earlier
        } else {
          report(stage: "writing")
          made = try shared.trace.span("ThumbnailOutput.publish") {
            try output.publish(thumbnail, to: place, modified: file.modified)
          }
          shared.onThumbnail?(id, source.path, thumbnail)
        }
        findings.withLock { $0.thumbnails.append(made) }
      }
      findings.withLock { $0.warnings = info.warnings }
    }
  }

  /// What would be made.
  ///
  /// - Throws: `BudgetExceededError` where that would need more memory than there is.
  private func plan(
    _ output: ThumbnailOutput, _ info: SourceInfo, _ needed: Int
  ) throws(BudgetExceededError) -> [MadeThumbnail] {
    let budget = shared.memory.budget
    if needed > budget.largest { throw BudgetExceededError(needed: needed, budget: budget) }
    return output.options.sizes.map { size in
      MadeThumbnail(
        path: output.path.appending(output.place(place, size: size)), size: size.name,
        pixels: size.placement(for: info.orientedPixels).pixels, bytes: 0)
    }
  }

  /// Waits, ready to be cancelled.
  private func pause(milliseconds: Int) throws {
    for _ in 0..<(milliseconds / 10) {
      try checkCancelled()
      usleep(10_000)
    }
  }
}

extension ThumbnailOperation: ThumbnailMonitor {
  func entered(_ stage: ThumbnailStage) { report(stage: stage.rawValue) }

  func progressed(to fraction: Double) { report(fraction: fraction) }
}

extension SourceFailure {
  /// What an error of the work means.
  init(_ error: any Error & CustomStringConvertible, in memory: MemoryPlan) {
    if let error = error as? BudgetExceededError {
      self.init(kind: .memory, description: memory.refusal(error), bytesNeeded: error.needed)
      return
    }
    let kind: Kind =
      switch error {
      case let error as OutputError: error.isDiskFault ? .disk : .output
      case let failure as SourceFailure: failure.kind
      default: .source
      }
    self.init(kind: kind, description: error.description)
  }

  /// Whether trying again may help: a disk or a network that stumbled, a file that was still being written.
  fileprivate func mayPass(_ error: any Error) -> Bool {
    switch error {
    case ThumbnailError.unreadable, ThumbnailError.truncated, ThumbnailError.damaged, ThumbnailError.corrupt: true
    case let error as OutputError: error.kind == .failed && !error.isDiskFault || error.error == .ioError
    default: false
    }
  }
}
