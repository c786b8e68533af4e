import BoundedQueue
import Files
import Foundation
import Marks
import Pictures
import Places
import Sourcing
import Thumbnails

/// What the joins know of a source that is done.
struct SourceEntry: Sendable {
  /// A thumbnail and the size and format that it belongs to.
  struct Picture: Sendable {
    /// The index of its size and format among those of all outputs.
    let slot: Int
    let thumbnail: MadeThumbnail
    /// Whether the file is that of an earlier size, to which the one of this size is equal.
    var isShared = false
  }

  enum Result: Sendable {
    /// The description is nil if the source could not be described, although its thumbnails are there.
    case pictures(SourceDescription?, [Picture])
    /// There are no thumbnails, for this reason. The outcome is a word of the events.
    case missing(outcome: String, reason: String)
  }

  let source: Source
  /// The size of the source; nil if it could not be read, or is on the network: of that, only a part may have been
  /// fetched, and nothing in a later run.
  let bytes: Int?
  /// Its modification time; nil if it could not be read.
  let modified: timespec?
  /// What the camera has noted.
  let facts: PhotoFacts
  /// The SHA-256 digest of all its bytes; nil if nobody asked, or it could not be read.
  let digest: SHA256Digest?
  let result: Result
}

extension SourceEntry {
  /// The entry of a source that is not up to date; nil for a file that is no photo, or one that has an entry already.
  ///
  /// - Parameters:
  ///   - findings: of its operation; nil if it had none.
  ///   - outputs: all outputs of the job.
  init?(_ report: SourceReport, _ findings: SourceFindings?, place: Path?, outputs: [ThumbnailOutput]) {
    switch report.result {
    case .made:
      guard let description = findings?.description, let place else { return nil }
      let slots = outputs.renditions
      let places = slots.map { slot in
        slot.output.path.appending(slot.output.place(of: report.source, place, slot.rendition))
      }
      let pictures = report.thumbnails.compactMap { thumbnail in
        places.firstIndex(of: thumbnail.path).map { index in
          Picture(slot: index, thumbnail: thumbnail)
        }
      }
      result = .pictures(description, pictures.sharing(description, outputs))
    case .failed(let failure): result = .missing(outcome: "failed", reason: "\(failure)")
    case .cancelled(let reason): result = .missing(outcome: "cancelled", reason: "cancelled \(reason)")
    case .unsupported(let type):
      result = .missing(outcome: "not-read", reason: "\(ThumbnailError.unsupportedType(type))")
    case .notImage, .thumbnail, .duplicate, .gone: return nil
    }
    source = report.source
    (bytes, modified) = (source.address == nil ? findings?.file?.bytes : nil, findings?.file?.modified)
    (facts, digest) = (findings?.facts ?? PhotoFacts(), findings?.digest)
  }
}

extension [ThumbnailOutput] {
  /// All thumbnails of a source: the output of each, and the index of its size among all sizes of all outputs.
  var renditions: [(output: ThumbnailOutput, rendition: Rendition, size: Int)] {
    var before = 0
    return flatMap { output in
      defer { before += output.options.sizes.count }
      let formats = output.options.formats
      return output.options.renditions.enumerated().map { index, rendition in
        (output, rendition, before + index / formats.count)
      }
    }
  }
}

extension [SourceEntry.Picture] {
  /// The same pictures, where of those that are equal each has the file of the first one. So a browser loads one file for
  /// all of them.
  ///
  /// - Parameters:
  ///   - source: of which they are; nil if it could not be described, and nothing is known to be equal.
  ///   - outputs: all outputs of the job.
  func sharing(_ source: SourceDescription?, _ outputs: [ThumbnailOutput]) -> Self {
    guard let source else { return self }
    let slots = outputs.enumerated().flatMap { index, output in
      output.options.renditions.map { rendition in
        (output: index, format: rendition.format.rawValue, placement: rendition.size.placement(for: source.pixels))
      }
    }
    return enumerated().map { index, picture in
      let equal = self[..<index].first { other in
        slots[other.slot] == slots[picture.slot] && other.thumbnail.pixels == picture.thumbnail.pixels
          && other.thumbnail.bytes == picture.thumbnail.bytes
      }
      guard let file = equal?.thumbnail else { return picture }
      let thumbnail = MadeThumbnail(
        path: file.path, size: picture.thumbnail.size, format: file.format, pixels: file.pixels, bytes: file.bytes,
        state: file.state)
      return SourceEntry.Picture(slot: picture.slot, thumbnail: thumbnail, isShared: true)
    }
  }
}
