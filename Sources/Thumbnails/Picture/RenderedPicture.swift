/// A thumbnail before it is encoded: upright, and in sRGB unless its profile is kept.
package struct RenderedPicture {
  package let pixels: PixelSize
  /// One grey plane, or three as `layout` says.
  package let colors: [PlaneView]
  /// Nil if the thumbnail is not transparent. Colours are not multiplied by it.
  package let alpha: PlaneView?
  package let layout: SampleLayout
}

/// What is written into a thumbnail besides its picture; empty where there is nothing.
package struct ThumbnailMetadata: Sendable {
  /// The TIFF structure with the EXIF tags.
  package var exif: [UInt8] = []
  package var profile: [UInt8] = []
}

/// Encodes thumbnails in the formats that a maker does not encode itself: all but JPEG.
package protocol ThumbnailEncoder {
  /// - parameters:
  ///   - picture: its planes stay valid during the call.
  ///   - options: how thumbnails are made.
  ///   - monitor: decides whether to stop.
  /// - returns: the bytes of the file.
  func encode(
    _ picture: RenderedPicture, as format: ThumbnailFormat, _ options: ThumbnailOptions,
    _ metadata: ThumbnailMetadata, monitor: (any ThumbnailMonitor)?
  ) throws -> [UInt8]
}

/// The samples of a thumbnail, as its encoder takes them.
package struct SampleLayout: Sendable, Hashable {
  package enum Colors: Sendable, Hashable {
    /// Luma and chroma of JPEG. Chroma may have half of the rows and columns, rounded up.
    case ycc(halvesChroma: Bool)
    case rgb
  }

  package let colors: Colors
  /// Whether there is a plane of alpha.
  package let keepsAlpha: Bool

  var isRGB: Bool { colors == .rgb }
  var halvesChroma: Bool { colors == .ycc(halvesChroma: true) }
}

extension ThumbnailOptions {
  /// The samples of a thumbnail.
  ///
  /// - parameters:
  ///   - pixels: the size of the thumbnail.
  ///   - hasAlpha: whether the picture may be transparent.
  func layout(of format: ThumbnailFormat, at pixels: PixelSize, hasAlpha: Bool) -> SampleLayout {
    let colors: SampleLayout.Colors =
      switch format {
      case .jpeg, .avif: .ycc(halvesChroma: halvesChroma(at: pixels))
      case .webp: lossless ? .rgb : .ycc(halvesChroma: true)
      case .png: .rgb
      }
    return SampleLayout(colors: colors, keepsAlpha: hasAlpha && keepsAlpha(in: format))
  }
}
