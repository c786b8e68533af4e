import Thumbnails

/// The size of a preview, and which part of the picture it shows.
package enum PreviewShape: Sendable, Hashable {
  /// The size of the picture.
  case whole
  /// A size that does not depend on the picture.
  case box(SizeSpec)
  /// A part of the picture in its own size: so many columns of the middle in full height, or so many rows in full width.
  case strip(width: Int?, height: Int?, CropPosition)

  /// The size for a picture.
  ///
  /// - Parameter pixels: the size of the picture as displayed.
  func size(of pixels: PixelSize) throws(SizeSpecError) -> SizeSpec {
    switch self {
    case .whole: try SizeSpec(width: SizeSpec.maximumSide, height: SizeSpec.maximumSide)
    case .box(let size): size
    case .strip(let width, let height, let position):
      try SizeSpec(
        width: min(width ?? pixels.width, pixels.width), height: min(height ?? pixels.height, pixels.height),
        mode: .fill, position: position)
    }
  }
}
