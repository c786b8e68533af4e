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
  /// The size of headings, in points.
  let headingSize: Double
  private let cellWidth: Double
  private let cellHeight: Double

  /// - Parameter headings: how many there are above rows of cells, which become lower to make room for them. The heading
  ///   of a page's first row is in the margin, and does not count.
  init(_ grid: SheetGrid, headings: Int = 0) {
    self.grid = grid
    let (columns, rows) = (Double(grid.columns), Double(grid.rows))
    gap = min(14, 0.1 * min(Self.area.width / columns, Self.area.height / rows))
    cellWidth = (Self.area.width - gap * (columns - 1)) / columns
    let height = (Self.area.height - gap * (rows - 1)) / rows
    captionSize = min(7.5, max(4, min(cellWidth / 14, height / 6)))
    headingSize = captionSize + 1
    cellHeight = height - Self.headingHeight(headingSize) * Double(headings) / rows
  }

  /// How much lower a heading makes the place for the cells, in points.
  private static func headingHeight(_ size: Double) -> Double { 1.7 * size }

  /// A cell with its caption. Cells are counted from the upper left one, row by row.
  ///
  /// - Parameter headings: how many headings are above it on the page, without that in the margin.
  func cell(_ index: Int, below headings: Int = 0) -> SheetBox {
    let (row, column) = index.quotientAndRemainder(dividingBy: grid.columns)
    return SheetBox(
      x: Self.area.x + Double(column) * (cellWidth + gap),
      y: Self.area.y + Self.area.height - cellHeight - Double(row) * (cellHeight + gap)
        - Double(headings) * Self.headingHeight(headingSize),
      width: cellWidth, height: cellHeight)
  }

  /// The part of a cell for the picture.
  func pictureBox(_ index: Int, below headings: Int = 0) -> SheetBox {
    var box = cell(index, below: headings)
    box.y += captionHeight
    box.height -= captionHeight
    return box
  }

  /// The caption's baseline, so high above the cell's end that descenders are inside.
  func captionBaseline(_ index: Int, below headings: Int = 0) -> Double {
    cell(index, below: headings).y + 0.3 * captionSize
  }

  /// The baseline of the heading above the row of a cell.
  ///
  /// - Parameter headings: how many headings are above the cell, with this one.
  func headingBaseline(_ index: Int, below headings: Int) -> Double {
    let box = cell(index, below: headings)
    return box.y + box.height + 0.6 * headingSize
  }

  private var captionHeight: Double { 1.7 * captionSize }
}
