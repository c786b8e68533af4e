import BoundedQueue
import Files
import Thumbnails

/// The result of one source.
public enum SourceResult: Sendable {
  /// Every thumbnail is in place, or would be made if this were not a dry run.
  case made
  /// The file is not an image.
  case notImage
  /// The file is an image of a type that is not supported yet.
  case unsupported(ImageType)
  /// An earlier argument has the same file.
  case duplicate(of: Path)
  case failed(SourceFailure)
  case cancelled(CancelReason)
}

/// A thumbnail in its place, or one that a dry run would make.
public struct MadeThumbnail: Sendable, Equatable {
  /// The output folder and the place in it.
  public let path: Path
  /// The name of its size.
  public let size: String
  public let pixels: PixelSize
  /// The size of its file in bytes; 0 in a dry run.
  public let bytes: Int
}

/// The result of one source with its details.
public struct SourceReport: Sendable {
  public let source: Source
  public let result: SourceResult
  /// The thumbnails that were made. There may be some even if the source failed or was cancelled.
  public var thumbnails: [MadeThumbnail] = []
  /// Warnings of the decoder.
  public var warnings: [String] = []
  /// The size of the source in bytes; 0 if it was never opened.
  public var bytes = 0
  /// The operation of the source; nil if none was submitted.
  public var operation: OperationSnapshot?
}
