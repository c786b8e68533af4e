import BoundedQueue
import Foundation
import Locking
import Synchronization
import SystemPackage
import Thumbnails

/// The operation of a job: every thumbnail of one source.
///
/// It opens the source, looks what it is, makes the sizes of each output from one decoding, and puts them in place one
/// by one. Cancelled at any moment it ends within a few rows and leaves no temporary file.
final class ThumbnailOperation: BoundedOperation, @unchecked Sendable {  // `findings` has its lock; the rest is fixed
  /// What all operations of a job share.
  struct Shared: Sendable {
    let outputs: [ThumbnailOutput]
    let makers = MakerPool()
    /// How often a source that failed is tried again.
    let retries: Int
  }

  /// What the work has found out so far.
  struct Findings: Sendable {
    var bytes = 0
    var thumbnails: [MadeThumbnail] = []
    var warnings: [String] = []
    var result: SourceResult?
  }

  let source: Source
  let place: Path
  /// How often memory pressure has cancelled the work on this source.
  let timesCancelled: Int
  private let shared: Shared
  private let findings = Locked(Findings())

  /// - Parameter place: where its thumbnails go, from `OutputPlan`.
  init(source: Source, place: Path, timesCancelled: Int = 0, shared: Shared) {
    self.source = source
    self.place = place
    self.timesCancelled = timesCancelled
    self.shared = shared
    let sizes = shared.outputs.flatMap(\.options.sizes).map(\.name).joined(separator: ", ")
    super.init(title: "thumbnail \(source.path.printable) → \(sizes)")
  }

  /// What has been found out; complete once the operation has settled.
  var found: Findings { findings.withLock { $0 } }

  override func execute() throws {
    for attempt in 0... {
      do {
        let result = try makeAll()
        return findings.withLock { $0.result = result }
      } catch let error as any Error & CustomStringConvertible {
        try checkCancelled()
        let failure = SourceFailure(error)
        guard attempt < shared.retries, failure.mayPass(error) else { throw failure }
        report(stage: "waiting to try again")
        try pause(milliseconds: 100 << min(attempt, 5))
      }
    }
  }

  private func makeAll() throws -> SourceResult {
    report(stage: ThumbnailStage.reading.rawValue)
    let file = try SourceFile(source.path)
    findings.withLock { $0 = Findings(bytes: file.size) }
    switch try file.content(of: source) {
    case .other: return .passedOver
    case .notAnImage(let error): throw error
    case .image(.jpeg): break
    case .image(let type):
      if source.origin == .argument { throw ThumbnailError.unsupportedType(type) }
      return .notRead(type)
    }
    return try shared.makers.withMaker { maker in
      for output in shared.outputs {
        guard output.folder != nil else {
          let planned = plan(output, try maker.readInfo(of: file.bytes, for: output.options))
          findings.withLock { $0.thumbnails += planned }
          continue
        }
        let opened = try maker.open(file.bytes, options: output.options, monitor: self)
        let info = try withReservation(of: opened.bytesNeeded) {
          try opened.makeThumbnails { thumbnail in
            try checkCancelled()
            report(stage: "writing")
            let made = try output.publish(thumbnail, to: place, modified: file.modified)
            findings.withLock { $0.thumbnails.append(made) }
          }
        }
        findings.withLock { $0.warnings = info.warnings }
      }
      return .made
    }
  }

  private func plan(_ output: ThumbnailOutput, _ info: SourceInfo) -> [MadeThumbnail] {
    output.options.sizes.map { size in
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
  init(_ error: any Error & CustomStringConvertible) {
    if let error = error as? BudgetExceeded {
      let mebibytes = (error.needed + 1 << 20 - 1) >> 20
      self.init(kind: .memory, description: "\(error); --memory \(mebibytes)M would allow it")
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
