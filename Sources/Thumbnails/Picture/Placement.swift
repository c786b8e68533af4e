/// The part of a picture that a thumbnail shows, and the thumbnail's size.
public struct Placement: Sendable, Hashable {
  /// The thumbnail's size.
  public let pixels: PixelSize
  /// The part of the oriented source that is shown.
  let region: PixelRect

  /// The source pixels for each thumbnail pixel, along the axis with fewer.
  package var reduction: Double {
    min(region.width / Double(pixels.width), region.height / Double(pixels.height))
  }
}

extension SizeSpec {
  /// The placement of a picture. The thumbnail's sides are rounded to the nearest pixel, and are at least one.
  ///
  /// - parameter source: the picture's size as displayed, after EXIF orientation.
  public func placement(for source: PixelSize) -> Placement {
    let sourceWidth = Double(source.width)
    let sourceHeight = Double(source.height)
    let whole = PixelRect(x: 0, y: 0, width: sourceWidth, height: sourceHeight)
    // A side without a given length is not limited.
    let horizontal = width.map { Double($0) / sourceWidth } ?? .infinity
    let vertical = height.map { Double($0) / sourceHeight } ?? .infinity

    switch mode {
    case .fit:
      let factor = enlarges ? min(horizontal, vertical) : min(horizontal, vertical, 1)
      return Placement(pixels: Self.rounded(sourceWidth * factor, sourceHeight * factor), region: whole)
    case .exact:
      let limit = enlarges ? Double.infinity : 1
      let pixels = Self.rounded(sourceWidth * min(horizontal, limit), sourceHeight * min(vertical, limit))
      return Placement(pixels: pixels, region: whole)
    case .fill:
      let factor = max(horizontal, vertical)
      let shown = (width: Double(width ?? 1) / factor, height: Double(height ?? 1) / factor)
      let region = PixelRect(
        x: (sourceWidth - shown.width) / 2, y: (sourceHeight - shown.height) / 2, width: shown.width,
        height: shown.height)
      let scale = enlarges ? factor : min(factor, 1)
      return Placement(pixels: Self.rounded(shown.width * scale, shown.height * scale), region: region)
    }
  }

  private static func rounded(_ width: Double, _ height: Double) -> PixelSize {
    // For a narrow strip, nothing else limits the height of an enlarged `300x`.
    func side(_ length: Double) -> Int { Int(min(max(length.rounded(), 1), Double(maximumSide))) }
    return PixelSize(width: side(width), height: side(height))
  }
}

extension ThumbnailOptions {
  /// Whether the chroma planes of a thumbnail have half of its rows and columns.
  ///
  /// - Parameter pixels: the size of the thumbnail.
  func halvesChroma(at pixels: PixelSize) -> Bool {
    switch subsampling {
    case .auto: max(pixels.width, pixels.height) > Self.iconSide
    case .s420: true
    case .s444: false
    }
  }
}
