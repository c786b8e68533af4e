import Files
import Thumbnails

/// A thumbnail in its place, or one that a dry run would make.
public struct MadeThumbnail: Sendable, Equatable {
  /// The output folder and the place in it.
  public let path: Path
  /// The name of its size.
  public let size: String
  public let pixels: PixelSize
  /// The size of its file in bytes; 0 in a dry run.
  public let bytes: Int
  /// The state of its file; nil in a dry run and in a bucket.
  var state: FileState?
}

/// A thumbnail in JSON: in the events of a job, and in a manifest.
public struct ThumbnailFields: Encodable {
  let path: JSONPath
  let size: String
  let width: Int
  let height: Int
  /// Nil in a dry run, which does not know it.
  let bytes: Int?

  /// - Parameter path: the path to show.
  public init(_ thumbnail: MadeThumbnail, path: Path) {
    self.path = JSONPath(path)
    (size, bytes) = (thumbnail.size, thumbnail.bytes > 0 ? thumbnail.bytes : nil)
    (width, height) = (thumbnail.pixels.width, thumbnail.pixels.height)
  }
}
