/// A rectangle on the continuous picture, where pixel column `i` spans `i ..< i + 1`. Edges may be inside pixels. A
/// rectangle may extend beyond the picture, whose edge pixels are repeated there.
struct PixelRect: Sendable, Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// The same rectangle in samples of a plane, of which the picture has `columns` × `rows`.
  func scaled(from size: PixelSize, toColumns columns: Double, rows: Double) -> PixelRect {
    let horizontal = columns / Double(size.width)
    let vertical = rows / Double(size.height)
    return PixelRect(x: x * horizontal, y: y * vertical, width: width * horizontal, height: height * vertical)
  }
}
