/// A rectangle on the continuous picture, where pixel column `i` spans `i ..< i + 1`: edges may fall inside pixels, and
/// a rectangle may reach past the picture (the picture's edge then goes on).
struct PixelRect: Sendable, Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// The same rectangle measured in units of which the picture has `columns` × `rows` rather than `size`: a plane's
  /// samples.
  func scaled(from size: PixelSize, toColumns columns: Double, rows: Double) -> PixelRect {
    let horizontal = columns / Double(size.width)
    let vertical = rows / Double(size.height)
    return PixelRect(x: x * horizontal, y: y * vertical, width: width * horizontal, height: height * vertical)
  }
}
