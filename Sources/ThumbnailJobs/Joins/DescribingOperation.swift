import BoundedQueue
import Files
import Foundation
import Locking
import Thumbnails

/// Describes a source whose thumbnails are up to date, for the joins of a job.
///
/// It reads the comments in the thumbnails. Those that were made without joins have none: their headers are read, and the
/// smallest one is decoded for the placeholder.
final class DescribingOperation: SourceOperation, @unchecked Sendable {  // `found` has a lock
  private struct Found {
    var entry: SourceEntry?
    var hasHeldMemory = false
  }

  private let found = Locked(Found())

  init(source: Source, place: Path, timesCancelled: Int = 0, shared: Shared) {
    super.init(
      title: OperationTitle.describing(source.path), source: source, place: place, timesCancelled: timesCancelled,
      shared: shared)
  }

  /// The description and the thumbnails; nil before the operation has succeeded.
  var entry: SourceEntry? { found.withLock { $0.entry } }

  override var hasHeldMemory: Bool { found.withLock { $0.hasHeldMemory } }

  override func again(timesCancelled: Int) -> SourceOperation {
    DescribingOperation(source: source, place: place, timesCancelled: timesCancelled, shared: shared)
  }

  override func execute() throws {
    report(stage: ThumbnailStage.reading.rawValue)
    let file = try SourceFile(source.path)
    var pictures: [SourceEntry.Picture] = []
    var description: SourceDescription?
    var slot = 0
    for output in shared.outputs {
      for size in output.options.sizes {
        defer { slot += 1 }
        try checkCancelled()
        let path = output.path.appending(output.place(of: source, place, size: size))
        // A place that another source has, or that is gone since the walk, has no thumbnail of this source.
        guard let thumbnail = try? SourceFile(path) else { continue }
        let comment = try thumbnail.description()
        description = description ?? comment?.source
        let pixels = try comment?.pixels ?? ThumbnailMaker.readInfo(of: thumbnail.bytes).pixels
        pictures.append(
          SourceEntry.Picture(
            size: slot,
            thumbnail: MadeThumbnail(path: path, size: size.name, pixels: pixels, bytes: thumbnail.size)))
      }
    }
    let known = try description ?? describe(file, pictures)
    found.withLock { $0.entry = SourceEntry(source: source, file: file.version, result: .pictures(known, pictures)) }
  }

  /// Describes the source by its header and its smallest thumbnail.
  private func describe(_ file: SourceFile, _ pictures: [SourceEntry.Picture]) throws -> SourceDescription {
    guard let smallest = pictures.map(\.thumbnail).min(by: { $0.pixels.count < $1.pixels.count }) else {
      throw SourceFailure.source(.unreadable(ENOENT))
    }
    let info = try ThumbnailMaker.readInfo(of: file.bytes)
    let options = ThumbnailOptions(sizes: [Self.small], makesPlaceholder: true)
    let thumbnail = try SourceFile(smallest.path)
    let needed = try ThumbnailMaker.readInfo(of: thumbnail.bytes, for: options).bytesNeeded(for: options)
    return try withReservation(of: shared.memory.reservation(for: needed)) {
      found.withLock { $0.hasHeldMemory = true }
      return try shared.makers.withMaker { maker in
        var placeholder: Placeholder?
        try maker.makeThumbnails(of: thumbnail.bytes, options: options) { placeholder = $0.placeholder }
        guard let placeholder else { preconditionFailure("a thumbnail was made without its placeholder") }
        return SourceDescription(
          pixels: info.orientedPixels, orientation: info.orientation, placeholder: placeholder)
      }
    }
  }

  private static let small = SizeSpec.known("100")
}
