import CLibJPEG
import Foundation

/// The reason why a thumbnail could not be made. The description is one line without the file's name.
public enum ThumbnailError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The monitor stopped the work.
  case cancelled
  /// The file has no bytes.
  case empty
  /// The first bytes, of which at most four are given here, are not those of a known image type.
  case notAnImage([UInt8])
  /// A file of a known format that is no image here.
  case otherFormat(OtherFormat)
  /// An image of a type that cannot be read.
  case unsupportedType(ImageType)
  /// An image of a known type, but of a kind that cannot be read.
  case unsupported(String, type: ImageType = .jpeg)
  /// The file ends before its picture does.
  case truncated(String)
  /// The data is so corrupt that decoding cannot go on.
  case damaged(String)
  /// The data is corrupt, and the options reject that; `FailOn.truncated` accepts it.
  case corrupt(String)
  /// The file has a harmless flaw, and the options reject that; `FailOn.error` accepts it.
  case imperfect(String)
  /// The source has more pixels than allowed.
  case tooManyPixels(PixelSize, limit: Int)
  /// A requested thumbnail would have more pixels than allowed.
  case thumbnailTooLarge(PixelSize, limit: Int)
  /// A requested thumbnail would have more pixels along a side than its format allows.
  case sideTooLong(PixelSize, ImageType, limit: Int)
  /// A decompression bomb: more scans than any real file has.
  case tooManyScans(limit: Int)
  /// Reading failed with this `errno`.
  case unreadable(Int32)
  case outOfMemory
  /// `Decoding.sparing` cannot decode this file. Decoding all of it either makes the thumbnail or identifies the fault.
  /// `damage` is what is known to be wrong with the data, if that is no reason to fail.
  case irregular(damage: String? = nil)
  /// A fault in this program, not in the file.
  case internalFault(String)

  public var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .empty: "the file is empty"
    case .notAnImage(let head):
      "not an image (it starts with \(head.map { String(format: "%02X", $0) }.joined(separator: " ")))"
    case .otherFormat(let format): "\(format.name), a format of which no thumbnails are made"
    case .unsupportedType(let type): "\(type.nameWithArticle), a format of which no thumbnails are made"
    case .unsupported(let reason, let type): "unsupported \(type.displayName): \(reason)"
    case .truncated(let reason): "truncated: \(reason)"
    case .damaged(let reason): "damaged: \(reason)"
    case .corrupt(let reason): "damaged: \(reason)"
    case .imperfect(let reason): "not flawless: \(reason)"
    case .tooManyPixels(let size, let limit): "\(size) = \(size.count) pixels, over the limit of \(limit)"
    case .thumbnailTooLarge(let size, let limit):
      "a thumbnail of \(size) = \(size.count) pixels is over the limit of \(limit)"
    case .sideTooLong(let size, let type, let limit):
      "a thumbnail of \(size) pixels has a side above \(limit), the limit of \(type.displayName)"
    case .tooManyScans(let limit): "damaged: more than \(limit) scans, which only files made to waste time have"
    case .unreadable(let code): "cannot be read: \(String(cString: strerror(code)))"
    case .outOfMemory: "out of memory"
    case .irregular: "irregular: only decoding all of the file can identify the fault"
    case .internalFault(let reason): "an internal fault: \(reason)"
    }
  }

  /// `tooManyScans` with the limit of libjpeg's decoder.
  package static let scanLimitExceeded = Self.tooManyScans(limit: Int(CLIBJPEG_SCAN_LIMIT))
}
