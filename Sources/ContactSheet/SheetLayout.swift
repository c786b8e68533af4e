/// Where the things on a page are: a rectangle in points (1/72 inch) from the lower left corner of the page.
struct SheetBox: Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// The largest box in this one that has the proportions of a picture; centred.
  ///
  /// - Parameters: the picture's sides, at least 1.
  func fitting(width pictureWidth: Int, height pictureHeight: Int) -> SheetBox {
    let (pictureWidth, pictureHeight) = (Double(pictureWidth), Double(pictureHeight))
    let scale = min(width / pictureWidth, height / pictureHeight)
    let (fittedWidth, fittedHeight) = (pictureWidth * scale, pictureHeight * scale)
    return SheetBox(
      x: x + (width - fittedWidth) / 2, y: y + (height - fittedHeight) / 2, width: fittedWidth, height: fittedHeight)
  }
}

/// The layout of a page: margins, cells with equal gaps, and in each cell a box for the picture above the caption.
struct SheetLayout {
  /// A4, upright.
  static let paper = SheetBox(x: 0, y: 0, width: 595, height: 842)
  /// The part of the page for the cells. Header and footer are in the margins above and below.
  static let area = SheetBox(x: 36, y: 50, width: 523, height: 746)
  static let headerBaseline = 810.0
  static let footerBaseline = 25.0
  /// The size of header and footer, in points.
  static let marginTextSize = 7.5

  let grid: SheetGrid
  /// The distance between two cells, in both directions.
  let gap: Double
  /// The size of captions, in points: smaller where the cells are small.
  let captionSize: Double
  private let cellWidth: Double
  private let cellHeight: Double

  init(_ grid: SheetGrid) {
    self.grid = grid
    let (columns, rows) = (Double(grid.columns), Double(grid.rows))
    gap = min(14, 0.1 * min(Self.area.width / columns, Self.area.height / rows))
    cellWidth = (Self.area.width - gap * (columns - 1)) / columns
    cellHeight = (Self.area.height - gap * (rows - 1)) / rows
    captionSize = min(7.5, max(4, min(cellWidth / 14, cellHeight / 6)))
  }

  /// A cell with its caption. Cells are counted from the upper left one, row by row.
  func cell(_ index: Int) -> SheetBox {
    let (row, column) = index.quotientAndRemainder(dividingBy: grid.columns)
    return SheetBox(
      x: Self.area.x + Double(column) * (cellWidth + gap),
      y: Self.area.y + Self.area.height - cellHeight - Double(row) * (cellHeight + gap), width: cellWidth,
      height: cellHeight)
  }

  /// The part of a cell for the picture.
  func pictureBox(_ index: Int) -> SheetBox {
    var box = cell(index)
    box.y += captionHeight
    box.height -= captionHeight
    return box
  }

  /// The caption's baseline, so high above the cell's end that descenders are inside.
  func captionBaseline(_ index: Int) -> Double { cell(index).y + 0.3 * captionSize }

  private var captionHeight: Double { 1.7 * captionSize }
}
