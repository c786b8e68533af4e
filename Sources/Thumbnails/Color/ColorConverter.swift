/// Converts rows of a thumbnail's components, all of the same size, to YCbCr or RGB of sRGB.
struct ColorConverter {
  private let model: ColorModel
  private let transform: ProfileTransform?
  private let toRGB: Bool

  /// - parameters:
  ///   - transform: from the picture's own colours to sRGB; nil if they are sRGB or unknown.
  ///   - toRGB: whether the result is RGB rather than JPEG's YCbCr.
  init(model: ColorModel, transform: ProfileTransform?, toRGB: Bool) {
    (self.model, self.transform, self.toRGB) = (model, transform, toRGB)
  }

  /// Converts three or four planes into the first three of them, in place.
  ///
  /// - parameter proceed: called every 16 rows.
  /// - throws: the errors of `proceed`.
  func convert(_ planes: [PlaneView], proceed: CancellationCheck) throws(ThumbnailError) {
    if model == .grey || toRGB && model == .rgb && transform == nil { return }
    let columns = planes[0].columns
    var pixels = [UInt8](repeating: 0, count: columns * planes.count)
    var colors = [UInt8](repeating: 0, count: columns * 3)
    for row in 0..<planes[0].rows {
      if row % 16 == 15 { try proceed() }
      let lines = planes.map { $0.row(row) }
      switch model {
      case .grey: return
      case .rgb: gatherRGB(lines, columns, into: &pixels) { ($0, $1, $2) }
      case .ycc(let matrix): gatherRGB(lines, columns, into: &pixels, YCbCr(matrix).rgb)
      case .cmyk, .ycck: gatherCMYK(lines, columns, into: &pixels)
      }
      if let transform {
        transform.convert(pixels, into: &colors, count: columns)
      } else if planes.count == 4 {
        Self.mixInks(pixels, columns, into: &colors)
      } else {
        swap(&pixels, &colors)
      }
      for x in 0..<columns {
        let (red, green, blue) = (colors[3 * x], colors[3 * x + 1], colors[3 * x + 2])
        (lines[0][x], lines[1][x], lines[2][x]) = toRGB ? (red, green, blue) : YCbCr.ycc(red, green, blue)
      }
    }
  }

  @inline(__always)
  private func gatherRGB(
    _ lines: [UnsafeMutablePointer<UInt8>], _ columns: Int, into pixels: inout [UInt8],
    _ rgb: (UInt8, UInt8, UInt8) -> (UInt8, UInt8, UInt8)
  ) {
    for x in 0..<columns {
      (pixels[3 * x], pixels[3 * x + 1], pixels[3 * x + 2]) = rgb(lines[0][x], lines[1][x], lines[2][x])
    }
  }

  /// Makes inks with 255 for full ink, also from a file with inverted ones. YCCK, which only Adobe's programs write, is
  /// inverted CMYK whose first three components are complemented and converted to YCbCr.
  private func gatherCMYK(_ lines: [UnsafeMutablePointer<UInt8>], _ columns: Int, into pixels: inout [UInt8]) {
    let flip: UInt8
    let isYCCK: Bool
    switch model {
    case .cmyk(let inverted): (flip, isYCCK) = (inverted ? 255 : 0, false)
    case .ycck: (flip, isYCCK) = (255, true)
    default: return
    }
    for x in 0..<columns {
      var (c, m, y) = (lines[0][x], lines[1][x], lines[2][x])
      if isYCCK {
        let (r, g, b) = YCbCr.jpeg.rgb(c, m, y)
        (c, m, y) = (255 - r, 255 - g, 255 - b)
      }
      (pixels[4 * x], pixels[4 * x + 1], pixels[4 * x + 2], pixels[4 * x + 3]) =
        (c ^ flip, m ^ flip, y ^ flip, lines[3][x] ^ flip)
    }
  }

  /// Mixes inks without a profile: each ink absorbs its complementary colour, and black absorbs all three.
  private static func mixInks(_ inks: [UInt8], _ columns: Int, into colors: inout [UInt8]) {
    for x in 0..<columns {
      let light = 255 - Int(inks[4 * x + 3])
      for ink in 0..<3 {
        colors[3 * x + ink] = UInt8(((255 - Int(inks[4 * x + ink])) * light + 127) / 255)
      }
    }
  }
}
