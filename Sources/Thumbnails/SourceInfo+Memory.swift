extension SourceInfo {
  /// The most memory making these thumbnails takes at a time, in bytes, over what an idle maker holds. For a budget: to
  /// be reserved before any pixel is read.
  ///
  /// Counted are the planes at the scale they are decoded at, libjpeg's coefficients of a file in several scans, and the
  /// planes and coefficients of the largest thumbnail.
  public func bytesNeeded(for options: ThumbnailOptions) -> Int {
    let placements = options.sizes.map { $0.placement(for: orientedPixels) }
    let scale = DecodeScale.choose(for: placements, linear: options.linear)
    let hMax = sampling.map(\.h).max() ?? 1
    let vMax = sampling.map(\.v).max() ?? 1
    let mcus = Self.quotient(pixels.width, 8 * hMax) * Self.quotient(pixels.height, 8 * vMax)
    let blockSide = 8 / scale

    var planes = 0
    var coefficients = 0
    for (h, v) in sampling {
      // libjpeg decodes a subsampled component at a larger scale where that comes out at luma's size or below.
      var side = blockSide
      while side < 8, hMax * blockSide % (h * side * 2) == 0, vMax * blockSide % (v * side * 2) == 0 { side *= 2 }
      planes += mcus * h * v * side * side
      coefficients += mcus * h * v * 64 * 2
    }
    let largest = placements.map(\.pixels.count).max() ?? 0
    // Stored, turned and halved planes; the encoder's coefficients at two bytes; its output.
    var rendering = largest * (4 + 3 + 2 + 6 + 3)
    if options.linear { rendering += largest * 3 * 4 }
    // Tables, windows, rows of blocks and filters: an allowance, growing with the picture's sides.
    let working = 512 << 10 + (pixels.width + pixels.height) * 256
    return planes + (isMultiscan ? coefficients : 0) + rendering + working
  }

  private static func quotient(_ dividend: Int, _ divisor: Int) -> Int { (dividend + divisor - 1) / divisor }
}
