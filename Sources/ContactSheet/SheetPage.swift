/// The cells of a page, by folder: each folder begins on a row of its own, below a heading.
package struct SheetPage: Sendable {
  /// The cells of one folder.
  package struct Section: Sendable {
    /// The path of the folder; nil for none.
    package let heading: String?
    package fileprivate(set) var cells: [SheetCell]
  }

  package let grid: SheetGrid
  package private(set) var sections: [Section] = []
  /// The rows of all sections but the last.
  private var rows = 0

  package init(_ grid: SheetGrid = SheetGrid()) { self.grid = grid }

  /// Adds a cell after all others, and before it a heading if that differs from the last one. False if the page has no
  /// room for it.
  package mutating func add(_ cell: SheetCell, under heading: String? = nil) -> Bool {
    let rowsOfLast = ((sections.last?.cells.count ?? 0) + grid.columns - 1) / grid.columns
    if let last = sections.last, last.heading == heading {
      guard last.cells.count < (grid.rows - rows) * grid.columns else { return false }
      sections[sections.count - 1].cells.append(cell)
      return true
    }
    guard rows + rowsOfLast < grid.rows else { return false }
    rows += rowsOfLast
    sections.append(Section(heading: heading, cells: [cell]))
    return true
  }
}
