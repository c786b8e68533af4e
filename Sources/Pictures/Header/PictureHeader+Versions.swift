import Thumbnails

extension PictureHeader {
  /// The version of the picture from which a thumbnail is made: the smallest of those that lose nothing by it, else the whole
  /// picture.
  ///
  /// A version loses nothing if it has at least twice the thumbnail's pixels along each side, which is what the resampling
  /// needs, and the same shape. Previews of another shape are cropped, or have bars at their sides.
  ///
  /// - parameter target: width and height in pixels to which the whole picture is scaled, as displayed.
  public func smallestVersion(for target: PixelSize) -> PictureHeader {
    let fitting = reduced.filter { version in
      let displayed = version.orientedPixels
      return displayed.hasShape(of: orientedPixels) && displayed.width / 2 >= target.width
        && displayed.height / 2 >= target.height && version.pixels.count < pixels.count
    }
    return fitting.min { $0.pixels.count < $1.pixels.count } ?? self
  }
}

extension PixelSize {
  /// Whether a picture of this size has the same shape as another: within 1 %, or as near as whole pixels can be.
  package func hasShape(of other: PixelSize) -> Bool {
    // Sides are at most a million pixels, so products fit.
    let (across, down) = (width * other.height, height * other.width)
    return abs(across - down) <= max(max(across, down) / 100, other.width, other.height)
  }
}
