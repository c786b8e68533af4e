import Thumbnails

/// What a client wants to have made of the picture that it sends.
package struct PreviewRequest: Sendable, Hashable {
  package var shape: PreviewShape
  /// Nil for the format of the picture, and for JPEG if that is none of ours.
  package var format: ThumbnailFormat?
  /// As of `ThumbnailOptions`.
  package var quality = 80
  package var isLossless = false
  package var isProgressive = false
  /// The colour where the picture is transparent; nil for nothing where the format has that, and for white elsewhere.
  package var background: RGBColor?
  /// What is copied of the picture's metadata.
  package var keep: KeptMetadata = []

  package init(_ shape: PreviewShape, format: ThumbnailFormat? = nil) { (self.shape, self.format) = (shape, format) }

  /// The options for a picture.
  ///
  /// - Parameters:
  ///   - pixels: the size of the picture as displayed.
  ///   - type: the type of the picture.
  ///   - limitPixels: the most pixels that a picture, and a preview, may have.
  /// - Throws: `SizeSpecError`, if the picture has no such preview.
  func options(
    for pixels: PixelSize, _ type: ImageType, limitPixels: Int
  ) throws(SizeSpecError) -> ThumbnailOptions {
    var options = ThumbnailOptions(
      sizes: [try shape.size(of: pixels)], quality: quality, progressive: isProgressive, keep: keep,
      background: background, limitPixels: limitPixels)
    let format = format ?? type.previewFormat
    options.formats = [format]
    options.lossless = isLossless && format.canBeLossless
    return options
  }
}

extension ImageType {
  /// The format of a preview if none is asked for.
  fileprivate var previewFormat: ThumbnailFormat {
    switch self {
    case .png, .gif: .png
    case .webp: .webp
    case .avif: .avif
    default: .jpeg
    }
  }
}
