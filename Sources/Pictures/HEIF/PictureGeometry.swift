import Thumbnails

/// What becomes of a stored picture before it is displayed: a part is cut out, and it is turned.
struct PictureGeometry: Hashable {
  /// The part that is displayed, in pixels of the stored picture.
  private(set) var x = 0
  private(set) var y = 0
  private(set) var pixels: PixelSize

  private var mirrorsColumns = false
  private var mirrorsRows = false
  private var isTransposed = false

  /// All of a stored picture, upright.
  init(_ pixels: PixelSize) { self.pixels = pixels }

  /// A step, as a property of an item says it (ISO/IEC 23008-12, 6.5.9, 6.5.10 and 6.5.12).
  enum Step: Hashable {
    /// A part of the displayed picture of this size; `right` and `down` are the distance of its centre from that of the
    /// picture.
    case cut(width: Double, height: Double, right: Double, down: Double)
    /// By so many quarters of a turn, anticlockwise.
    case turn(Int)
    case swapLeftAndRight
    case swapTopAndBottom
  }

  /// Mirrors columns, then rows, then swaps both: see `Orientation`.
  var orientation: Orientation {
    switch (mirrorsColumns, mirrorsRows, isTransposed) {
    case (false, false, false): .upright
    case (true, false, false): .mirrored
    case (true, true, false): .rotated180
    case (false, true, false): .mirroredVertically
    case (false, false, true): .transposed
    case (false, true, true): .rotated90
    case (true, true, true): .transversed
    case (true, false, true): .rotated270
    }
  }

  var isWholeAndUpright: Bool { x == 0 && y == 0 && orientation == .upright }

  mutating func apply(_ step: Step) throws(ThumbnailError) {
    switch step {
    case .cut(let width, let height, let right, let down): try cut(width, height, right, down)
    case .swapLeftAndRight: if isTransposed { mirrorsRows.toggle() } else { mirrorsColumns.toggle() }
    case .swapTopAndBottom: if isTransposed { mirrorsColumns.toggle() } else { mirrorsRows.toggle() }
    case .turn(let quarters):
      for _ in 0..<(quarters & 3) {
        // A quarter turn is a swap of rows and columns, and then of top and bottom.
        isTransposed.toggle()
        try apply(.swapTopAndBottom)
      }
    }
  }

  /// Fractions of pixels are rounded.
  private mutating func cut(_ width: Double, _ height: Double, _ right: Double, _ down: Double) throws(ThumbnailError) {
    let shown = orientation.apply(to: pixels)
    let (left, newWidth) = try Self.part(width, right, of: shown.width)
    let (top, newHeight) = try Self.part(height, down, of: shown.height)
    var (storedLeft, storedTop) = isTransposed ? (top, left) : (left, top)
    let size = orientation.apply(to: PixelSize(width: newWidth, height: newHeight))
    if mirrorsColumns { storedLeft = pixels.width - storedLeft - size.width }
    if mirrorsRows { storedTop = pixels.height - storedTop - size.height }
    x += storedLeft
    y += storedTop
    pixels = size
  }

  private static func part(
    _ length: Double, _ shift: Double, of whole: Int
  ) throws(ThumbnailError) -> (start: Int, length: Int) {
    let start = ((Double(whole) - length) / 2 + shift).rounded(.down)
    let first = max(start, 0)
    let end = min((start + length.rounded()), Double(whole))
    // Not a number fails here too.
    guard end - first >= 1 else { throw .damaged("the clean aperture is outside the picture") }
    return (Int(first), Int(end - first))
  }
}
