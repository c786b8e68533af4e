/// Converts between RGB and JPEG's full-range YCbCr, in 16-bit fixed point as libjpeg does.
///
/// Source: JFIF 1.02 (ITU-T T.871), section 7; rounding as in libjpeg's jdcolor.c and jccolor.c.
enum YCbCr {
  private static let bits: Int32 = 16
  private static let half: Int32 = 1 << 15

  @inline(__always)
  private static func fixed(_ value: Double) -> Int32 { Int32(value * 65_536 + 0.5) }

  @inline(__always)
  private static func clamped(_ value: Int32) -> UInt8 { UInt8(truncatingIfNeeded: min(max(value, 0), 255)) }

  /// One pixel as red, green and blue.
  @inline(__always)
  static func rgb(_ y: UInt8, _ cb: UInt8, _ cr: UInt8) -> (UInt8, UInt8, UInt8) {
    let luma = Int32(y)
    let blue = Int32(cb) - 128
    let red = Int32(cr) - 128
    return (
      clamped(luma + (fixed(1.402) * red + half) >> bits),
      clamped(luma + (-fixed(0.344136286) * blue - fixed(0.714136286) * red + half) >> bits),
      clamped(luma + (fixed(1.772) * blue + half) >> bits)
    )
  }

  /// One pixel as Y, Cb and Cr.
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
