import BoundedQueue
import Files
import Thumbnails

/// What became of one source.
public enum SourceResult: Sendable {
  /// Every thumbnail is in place; with `--dry-run`, would be.
  case made
  /// Not an image.
  case passedOver
  /// An image of a type that is not read yet.
  case notRead(ImageType)
  /// The same file as an earlier source's.
  case duplicate(of: Path)
  /// No thumbnail, for this reason.
  case failed(SourceFailure)
  case cancelled(CancelReason)
}

/// One thumbnail written.
public struct MadeThumbnail: Sendable, Equatable {
  /// Where it is: the output folder and the place in it.
  public let path: Path
  /// The name of its size.
  public let size: String
  public let pixels: PixelSize
  /// Its size as a file, in bytes.
  public let bytes: Int
}

/// Why a source has no thumbnail.
public struct SourceFailure: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: String, Sendable {
    /// The source is at fault.
    case source
    /// Two sources want one place.
    case collision
    /// It took longer than it may.
    case timeout
    /// It needs more memory than one operation may hold.
    case memory
    /// The thumbnail could not be written where it goes.
    case output
    /// The disk of the output is full, faulty or read-only.
    case disk
  }

  public let kind: Kind
  /// One line, without the name of the source.
  public let description: String
  /// Bytes of memory that making its thumbnails takes, where that was too many.
  public var bytesNeeded: Int?
}

/// A source that is done with.
public struct SourceReport: Sendable {
  public let source: Source
  public let result: SourceResult
  /// The thumbnails put in place; some may be also when the rest failed or was cancelled.
  public var thumbnails: [MadeThumbnail] = []
  /// What decoding remarked upon.
  public var warnings: [String] = []
  /// Size of the source in bytes; 0 when it was never opened.
  public var bytes = 0
  /// The operation that dealt with it; nil when none was needed.
  public var operation: OperationSnapshot?
}
