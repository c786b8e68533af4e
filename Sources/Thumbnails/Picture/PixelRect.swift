/// A rectangle in continuous coordinates, in which pixel column `i` spans `i ..< i + 1`. Its edges may be inside
/// pixels. It may extend beyond the picture, whose edge pixels are repeated there.
struct PixelRect: Sendable, Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// The same rectangle in samples of a plane in which the picture of this size covers `columns` × `rows` samples.
  func scaled(from size: PixelSize, toColumns columns: Double, rows: Double) -> PixelRect {
    let horizontal = columns / Double(size.width)
    let vertical = rows / Double(size.height)
    return PixelRect(x: x * horizontal, y: y * vertical, width: width * horizontal, height: height * vertical)
  }
}
