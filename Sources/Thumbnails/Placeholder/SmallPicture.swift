/// A picture of at most 100 × 100 pixels in sRGB, of which a placeholder is made.
struct SmallPicture {
  /// The most pixels of a side; a ThumbHash is not made of larger pictures.
  static let longestSide = 100

  let size: PixelSize
  /// Red, green and blue of each pixel, row by row: `size.height` × `size.width` × 3.
  let samples: [UInt8]

  /// - parameter samples: as the property of this name, of which there must be enough.
  init(size: PixelSize, samples: [UInt8]) {
    self.size = size
    self.samples = samples
  }

  /// Reduces a rendered thumbnail. Every pixel is the mean of the thumbnail's pixels that it covers, of which those at
  /// its edges count in part. A thumbnail that is small enough keeps its pixels, and a tiny one has them repeated.
  ///
  /// - parameters:
  ///   - picture: not transparent.
  ///   - proceed: called between planes, and as `Resampler.average` does.
  /// - throws: `outOfMemory`, and the errors of `proceed`.
  init(
    reducing picture: RenderedPicture, with resampler: Resampler, proceed: CancellationCheck
  ) throws(ThumbnailError) {
    let pixels = picture.pixels
    size = Self.size(for: pixels)
    let buffers = picture.colors.map { _ in PlaneBuffer() }
    var small: [PlaneView] = []
    for (index, plane) in picture.colors.enumerated() {
      try proceed()
      // At an odd size, half of the last chroma sample is beyond the picture's edge, and does not count.
      let scale = index > 0 && picture.layout.halvesChroma ? 0.5 : 1
      let target = try buffers[index].plane(columns: size.width, rows: size.height)
      try resampler.average(
        plane, columns: Double(pixels.width) * scale, rows: Double(pixels.height) * scale, into: target,
        proceed: proceed)
      small.append(target)
    }
    samples = Self.gather(small, size, isRGB: picture.layout.isRGB)
    withExtendedLifetime(buffers) {}
  }

  /// The mean of all pixels.
  var meanColor: RGBColor {
    var (red, green, blue) = (0, 0, 0)
    for index in stride(from: 0, to: size.count * 3, by: 3) {
      red += Int(samples[index])
      green += Int(samples[index + 1])
      blue += Int(samples[index + 2])
    }
    func mean(_ sum: Int) -> UInt8 { UInt8((sum + size.count / 2) / size.count) }
    return RGBColor(red: mean(red), green: mean(green), blue: mean(blue))
  }

  /// The size of a small picture with about the proportions of `pixels`.
  ///
  /// Along a side with fewer pixels than a hash has frequencies, a frequency could not be told from the mean, and a
  /// decoder would show stripes. So the pixels of a tiny picture are repeated, and there are at least three on each side.
  static func size(for pixels: PixelSize) -> PixelSize {
    let longest = max(pixels.width, pixels.height)
    let repeats = max(
      min(ThumbHash.frequencies.ceilingQuotient(min(pixels.width, pixels.height)), longestSide / longest), 1)
    let reduced = min(longest, longestSide)
    func side(_ length: Int) -> Int {
      max((length * reduced + longest / 2) / longest * repeats, ThumbHash.fewestFrequencies)
    }
    return PixelSize(width: side(pixels.width), height: side(pixels.height))
  }

  /// Red, green and blue from one grey plane, or three of YCbCr or RGB, without padding.
  private static func gather(_ planes: [PlaneView], _ size: PixelSize, isRGB: Bool) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size.count * 3) { samples, count in
      count = size.count * 3
      for index in 0..<size.count {
        let first = planes[0].base[index]
        let others = planes.count == 1 ? (first, first) : (planes[1].base[index], planes[2].base[index])
        let (red, green, blue) =
          planes.count == 1 || isRGB ? (first, others.0, others.1) : YCbCr.jpeg.rgb(first, others.0, others.1)
        (samples[3 * index], samples[3 * index + 1], samples[3 * index + 2]) = (red, green, blue)
      }
    }
  }
}
