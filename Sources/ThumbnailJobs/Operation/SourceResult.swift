import BoundedQueue
import Files
import Thumbnails

/// The result of one source.
public enum SourceResult: Sendable {
  /// Every thumbnail is in place. In a dry run, none is.
  case made
  /// Not an image.
  case passedOver
  /// An image of a type that is not supported yet.
  case notRead(ImageType)
  /// The same file as that of an earlier source.
  case duplicate(of: Path)
  case failed(SourceFailure)
  case cancelled(CancelReason)
}

/// A thumbnail in its place.
public struct MadeThumbnail: Sendable, Equatable {
  /// The output folder and the place in it.
  public let path: Path
  /// The name of its size.
  public let size: String
  public let pixels: PixelSize
  /// The size of its file in bytes.
  public let bytes: Int
}

/// The result of one source with its details.
public struct SourceReport: Sendable {
  public let source: Source
  public let result: SourceResult
  /// The thumbnails in place. There may be some even if the source failed or was cancelled.
  public var thumbnails: [MadeThumbnail] = []
  /// Warnings of the decoder.
  public var warnings: [String] = []
  /// The size of the source in bytes; 0 if it was never opened.
  public var bytes = 0
  /// The operation of the source; nil if it needed none.
  public var operation: OperationSnapshot?
}
