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

extension ThumbnailFormat {
  /// The type of its files.
  package var type: ImageType {
    switch self {
    case .jpeg: .jpeg
    case .webp: .webp
    case .avif: .avif
    case .png: .png
    }
  }
}
