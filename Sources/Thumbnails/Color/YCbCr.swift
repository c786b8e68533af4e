/// Converts between RGB and full-range YCbCr, in 16-bit fixed point as libjpeg does.
///
/// Source: JFIF 1.02 (ITU-T T.871), section 7, and ITU-T H.273, 8.3; rounding as in libjpeg's jdcolor.c and jccolor.c.
struct YCbCr {
  /// JPEG's, to which thumbnails are converted.
  static let jpeg = YCbCr(.bt601)

  private static let bits: Int32 = 16
  private static let half: Int32 = 1 << 15

  /// What one step of red or blue chroma adds to red, green and blue.
  private let redToRed: Int32
  private let redToGreen: Int32
  private let blueToGreen: Int32
  private let blueToBlue: Int32

  init(_ matrix: YCbCrMatrix) {
    let (red, blue) = matrix.weights
    let green = 1 - red - blue
    redToRed = Self.fixed(2 * (1 - red))
    blueToBlue = Self.fixed(2 * (1 - blue))
    redToGreen = Self.fixed(2 * (1 - red) * red / green)
    blueToGreen = Self.fixed(2 * (1 - blue) * blue / green)
  }

  @inline(__always)
  private static func fixed(_ value: Double) -> Int32 { Int32(value * 65_536 + 0.5) }

  @inline(__always)
  private static func clamped(_ value: Int32) -> UInt8 { UInt8(truncatingIfNeeded: min(max(value, 0), 255)) }

  /// One pixel as red, green and blue.
  @inline(__always)
  func rgb(_ y: UInt8, _ cb: UInt8, _ cr: UInt8) -> (UInt8, UInt8, UInt8) {
    let luma = Int32(y)
    let blue = Int32(cb) - 128
    let red = Int32(cr) - 128
    return (
      Self.clamped(luma + (redToRed * red + Self.half) >> Self.bits),
      Self.clamped(luma + (-blueToGreen * blue - redToGreen * red + Self.half) >> Self.bits),
      Self.clamped(luma + (blueToBlue * blue + Self.half) >> Self.bits)
    )
  }

  /// One pixel as Y, Cb and Cr of JPEG.
  @inline(__always)
  static func ycc(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> (UInt8, UInt8, UInt8) {
    let r = Int32(red)
    let g = Int32(green)
    let b = Int32(blue)
    let center: Int32 = 128 << 16 + half - 1
    return (
      clamped((fixed(0.299) * r + fixed(0.587) * g + fixed(0.114) * b + half) >> bits),
      clamped((-fixed(0.168735892) * r - fixed(0.331264108) * g + fixed(0.5) * b + center) >> bits),
      clamped((fixed(0.5) * r - fixed(0.418687589) * g - fixed(0.081312411) * b + center) >> bits)
    )
  }
}
