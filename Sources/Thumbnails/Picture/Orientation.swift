/// How a stored picture is turned to be looked at: EXIF's tag 0x0112, values 1 to 8.
///
/// Every value is a choice of three moves from the stored picture, in this order: mirror its columns, mirror its rows,
/// change rows and columns over.
///
/// Source: Exif 2.32 (CIPA DC-008), 4.6.4, "Orientation".
public enum Orientation: Int, Sendable, CaseIterable {
  case upright = 1
  case mirrored, rotated180, mirroredVertically, transposed, rotated90, transversed, rotated270

  /// Whether the picture is looked at with width and height changed over.
  var isTransposed: Bool { rawValue >= 5 }
  /// Whether stored columns run from the far side.
  var mirrorsColumns: Bool { [2, 3, 7, 8].contains(rawValue) }
  /// Whether stored rows run from the far side.
  var mirrorsRows: Bool { [3, 4, 6, 7].contains(rawValue) }

  /// The size looked at, of a size stored; and the other way round.
  func apply(to size: PixelSize) -> PixelSize { isTransposed ? size.transposed : size }

  /// The rectangle of the stored picture (of the size given) that is looked at as `region`.
  func storedRect(of region: PixelRect, in stored: PixelSize) -> PixelRect {
    var rect = region
    if isTransposed {
      rect = PixelRect(x: region.y, y: region.x, width: region.height, height: region.width)
    }
    if mirrorsColumns { rect.x = Double(stored.width) - rect.x - rect.width }
    if mirrorsRows { rect.y = Double(stored.height) - rect.y - rect.height }
    return rect
  }

  /// Turns a stored plane into the one looked at.
  ///
  /// - parameter proceed: asked every 16 rows.
  /// - throws: what `proceed` does.
  func turn(_ source: PlaneView, into target: PlaneView, proceed: Proceed) throws(ThumbnailError) {
    let (columnStep, columnStart) = mirrorsColumns ? (-1, source.columns - 1) : (1, 0)
    let (rowStep, rowStart) = mirrorsRows ? (-source.stride, (source.rows - 1) * source.stride) : (source.stride, 0)
    let start = rowStart + columnStart
    let (acrossStep, downStep) = isTransposed ? (rowStep, columnStep) : (columnStep, rowStep)
    for row in 0..<target.rows {
      if row % 16 == 15 { try proceed() }
      let line = target.row(row)
      var offset = start + row * downStep
      for column in 0..<target.columns {
        line[column] = source.base[offset]
        offset += acrossStep
      }
    }
  }
}
