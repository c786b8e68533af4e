import Foundation

/// Why there is no thumbnail. The description is one line, without the file's name.
public enum ThumbnailError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The monitor said stop.
  case cancelled
  /// The file has no bytes.
  case empty
  /// No image type known by its first bytes, given here (at most four).
  case notAnImage([UInt8])
  /// An image, but not one that can be read.
  case unsupportedType(ImageType)
  /// A JPEG of a kind that cannot be read.
  case unsupported(String)
  /// The file ends before its picture does.
  case truncated(String)
  /// The data is corrupt beyond decoding.
  case damaged(String)
  /// The data is corrupt, and the options refuse that: `FailOn.truncated` lets that pass.
  case corrupt(String)
  /// Something harmless is wrong, and the options refuse even that: `FailOn.error` lets that pass.
  case imperfect(String)
  /// The source has more pixels than allowed.
  case tooManyPixels(PixelSize, limit: Int)
  /// A thumbnail asked for would have more pixels than allowed.
  case thumbnailTooLarge(PixelSize, limit: Int)
  /// A decompression bomb: more scans than any real file has.
  case tooManyScans(limit: Int)
  /// Reading failed with this `errno`.
  case unreadable(Int32)
  case outOfMemory
  /// `Decoding.sparing` does not do for this file: there may be a picture in it, or a fault to be told, and the whole
  /// of it has to be decoded to see.
  case irregular
  /// A fault in this program rather than in the file.
  case internalFault(String)

  public var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .empty: "the file is empty"
    case .notAnImage(let head):
      "not an image (it starts with \(head.map { String(format: "%02X", $0) }.joined(separator: " ")))"
    case .unsupportedType(let type): "\(type.displayName) images are not supported, only JPEG"
    case .unsupported(let reason): "unsupported JPEG: \(reason)"
    case .truncated(let reason): "truncated: \(reason)"
    case .damaged(let reason): "damaged: \(reason)"
    case .corrupt(let reason): "damaged: \(reason); --fail-on truncated may let it pass"
    case .imperfect(let reason): "not flawless: \(reason); --fail-on error may let it pass"
    case .tooManyPixels(let size, let limit):
      "\(size) = \(size.count) pixels, over the limit of \(limit); --limit-pixels \(size.count) would let it pass"
    case .thumbnailTooLarge(let size, let limit):
      "a thumbnail of \(size) = \(size.count) pixels is over the limit of \(limit); "
        + "ask for a smaller size, or --limit-pixels \(size.count)"
    case .tooManyScans(let limit): "damaged: over \(limit) scans, as only files made to waste time have"
    case .unreadable(let code): "cannot be read: \(String(cString: strerror(code)))"
    case .outOfMemory: "out of memory"
    case .irregular: "irregular: only decoding all of it tells more"
    case .internalFault(let reason): "a fault in thumbjob itself: \(reason)"
    }
  }
}
