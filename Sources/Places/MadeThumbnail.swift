import Files
import Marks
import Thumbnails

/// A thumbnail in its place, or one that a dry run would make.
package struct MadeThumbnail: Sendable, Equatable {
  /// The output folder and the place in it.
  package let path: Path
  /// The name of its size.
  package let size: String
  package let format: ThumbnailFormat
  package let pixels: PixelSize
  /// The size of its file in bytes; 0 in a dry run.
  package let bytes: Int
  /// The state of its file; nil in a dry run and in a bucket.
  package var state: FileState?
  /// A hash of what it looks like; nil in a dry run and in a bucket.
  package var looks: UInt64?

  package init(
    path: Path, size: String, format: ThumbnailFormat = .jpeg, pixels: PixelSize, bytes: Int, state: FileState? = nil,
    looks: UInt64? = nil
  ) {
    (self.path, self.size, self.format, self.pixels) = (path, size, format, pixels)
    (self.bytes, self.state, self.looks) = (bytes, state, looks)
  }

  /// The same file as the thumbnail of another size.
  package func asSize(_ name: String) -> MadeThumbnail {
    MadeThumbnail(
      path: path, size: name, format: format, pixels: pixels, bytes: bytes, state: state, looks: looks)
  }
}

/// A thumbnail in JSON: in the events of a job, and in a manifest.
package struct ThumbnailFields: Encodable {
  package let path: JSONPath
  package let size: String
  /// The media type, such as `image/webp`.
  package let type: String
  package let width: Int
  package let height: Int
  /// Nil in a dry run, which does not know it.
  package let bytes: Int?

  /// - Parameter path: the path to show.
  package init(_ thumbnail: MadeThumbnail, path: Path) {
    self.path = JSONPath(path)
    (size, type) = (thumbnail.size, thumbnail.format.mediaType)
    bytes = thumbnail.bytes > 0 ? thumbnail.bytes : nil
    (width, height) = (thumbnail.pixels.width, thumbnail.pixels.height)
  }
}
