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
}
