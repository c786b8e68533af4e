import TestSupport
import Testing

@testable import ContactSheet

@Suite(.timeLimit(.minutes(5))) struct SheetLayoutTests {
  static let grids = (1...20).flatMap { columns in (1...20).map { SheetGrid(columns: columns, rows: $0) } }

  @Test func cellsNeverOverlapAndStayInsideTheMargins() {
    for grid in Self.grids {
      let layout = SheetLayout(grid)
      let cells = (0..<grid.count).map { layout.cell($0) }
      let areInside = cells.allSatisfy { contains(SheetLayout.area, $0) }
      let haveGaps = cells.enumerated().allSatisfy { index, cell in
        let (left, above) = (index - 1, index - grid.columns)
        return (index % grid.columns == 0 || isClose(cell.x - (cells[left].x + cells[left].width), layout.gap))
          && (above < 0 || isClose(cells[above].y - (cell.y + cell.height), layout.gap))
      }
      #expect(areInside && haveGaps && layout.gap > 1, "\(grid)")
    }
  }

  @Test func aPictureIsAboveItsCaptionAndBothAreInTheCell() {
    for grid in Self.grids {
      let layout = SheetLayout(grid)
      let (cell, picture, baseline) = (layout.cell(0), layout.pictureBox(0), layout.captionBaseline(0))
      #expect(contains(cell, picture))
      // Helvetica reaches from 0.207 below to 0.718 above the baseline.
      #expect(baseline - 0.207 * layout.captionSize >= cell.y)
      #expect(baseline + 0.718 * layout.captionSize + 1 < picture.y)
      #expect(picture.height > 2 * layout.captionSize && (4...7.5).contains(layout.captionSize))
    }
  }

  @Test func aPictureFillsItsBoxInOneDirectionAndKeepsItsProportions() {
    var numbers = SplitMix(seed: 7)
    for _ in 0..<5000 {
      let layout = SheetLayout(Self.grids.randomElement(using: &numbers)!)
      let box = layout.pictureBox(Int.random(in: 0..<layout.grid.count, using: &numbers))
      let limit = 1 << Int.random(in: 0...16, using: &numbers)
      let (width, height) = (Int.random(in: 1...limit, using: &numbers), Int.random(in: 1...limit, using: &numbers))
      let picture = box.fitting(width: width, height: height)
      let fills = isClose(picture.width, box.width) || isClose(picture.height, box.height)
      let keepsProportions = isClose(picture.width * Double(height) / (picture.height * Double(width)), 1)
      let isCentred =
        isClose(picture.x + picture.width / 2, box.x + box.width / 2)
        && isClose(picture.y + picture.height / 2, box.y + box.height / 2)
      #expect(contains(box, picture) && fills && keepsProportions && isCentred, "\(width) x \(height) in \(box)")
    }
  }

  @Test func headingsHaveRoomAboveTheirRows() {
    for grid in Self.grids {
      // Each row but the first has a heading.
      let layout = SheetLayout(grid, headings: grid.rows - 1)
      for row in 0..<grid.rows {
        let index = row * grid.columns
        let cell = layout.cell(index, below: row)
        #expect(contains(SheetLayout.area, cell) && layout.pictureBox(index, below: row).height > layout.captionSize)
        guard row > 0 else { continue }
        let (baseline, above) = (layout.headingBaseline(index, below: row), layout.cell(index - 1, below: row - 1))
        #expect(baseline - 0.25 * layout.headingSize > cell.y + cell.height)
        #expect(baseline + layout.headingSize < above.y)
      }
    }
  }

  @Test func aFolderBeginsOnARowOfItsOwn() {
    let cell = SheetCell(caption: "", picture: .missing(reason: ""))
    var page = SheetPage(SheetGrid(columns: 3, rows: 3))
    var added: [Bool] = []
    for heading in ["a", "a", "a", "a", "b", "b", "b", "b", "c"] { added.append(page.add(cell, under: heading)) }
    #expect(added == [true, true, true, true, true, true, true, false, false])
    #expect(page.sections.map(\.heading) == ["a", "b"] && page.sections.map(\.cells.count) == [4, 3])
    var full = SheetPage(SheetGrid(columns: 1, rows: 1))
    added = [full.add(cell), full.add(cell), full.add(cell, under: "a")]
    #expect(added == [true, false, false])
  }

  private func isClose(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-6 }

  private func contains(_ outer: SheetBox, _ inner: SheetBox) -> Bool {
    inner.x >= outer.x - 1e-6 && inner.y >= outer.y - 1e-6
      && inner.x + inner.width <= outer.x + outer.width + 1e-6
      && inner.y + inner.height <= outer.y + outer.height + 1e-6
  }
}
