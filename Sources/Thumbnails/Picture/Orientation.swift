/// How a stored picture is turned for display: EXIF's tag 0x0112, values 1 to 8.
///
/// Every value is a combination of three steps, in this order: mirror the columns, mirror the rows, swap rows and
/// columns.
///
/// Source: Exif 2.32 (CIPA DC-008), 4.6.4, "Orientation".
public enum Orientation: Int, Sendable, CaseIterable {
  case upright = 1
  case mirrored, rotated180, mirroredVertically, transposed, rotated90, transversed, rotated270

  /// Whether width and height are swapped for display.
  var isTransposed: Bool { rawValue >= 5 }
  /// Whether columns are stored from right to left.
  var mirrorsColumns: Bool { [2, 3, 7, 8].contains(rawValue) }
  /// Whether rows are stored from bottom to top.
  var mirrorsRows: Bool { [3, 4, 6, 7].contains(rawValue) }

  /// The displayed size of a picture of this stored size, and vice versa.
  public func apply(to size: PixelSize) -> PixelSize { isTransposed ? size.transposed : size }

  /// The rectangle of a stored picture that is displayed as `region`.
  func storedRect(of region: PixelRect, in stored: PixelSize) -> PixelRect {
    var rect = region
    if isTransposed {
      rect = PixelRect(x: region.y, y: region.x, width: region.height, height: region.width)
    }
    if mirrorsColumns { rect.x = Double(stored.width) - rect.x - rect.width }
    if mirrorsRows { rect.y = Double(stored.height) - rect.y - rect.height }
    return rect
  }

  /// Turns a stored plane for display.
  ///
  /// - parameter proceed: called every 16 rows.
  /// - throws: the errors of `proceed`.
  func turn(_ stored: PlaneView, into target: PlaneView, proceed: CancellationCheck) throws(ThumbnailError) {
    let (columnStep, columnStart) = mirrorsColumns ? (-1, stored.columns - 1) : (1, 0)
    let (rowStep, rowStart) = mirrorsRows ? (-stored.stride, (stored.rows - 1) * stored.stride) : (stored.stride, 0)
    let start = rowStart + columnStart
    let (acrossStep, downStep) = isTransposed ? (rowStep, columnStep) : (columnStep, rowStep)
    for row in 0..<target.rows {
      if row % 16 == 15 { try proceed() }
      let line = target.row(row)
      var offset = start + row * downStep
      for column in 0..<target.columns {
        line[column] = stored.base[offset]
        offset += acrossStep
      }
    }
  }
}
