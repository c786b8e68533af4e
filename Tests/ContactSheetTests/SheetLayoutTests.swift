import TestSupport
import Testing

@testable import ContactSheet

@Suite(.timeLimit(.minutes(5))) struct SheetLayoutTests {
  static let grids = (1...20).flatMap { columns in (1...20).map { SheetGrid(columns: columns, rows: $0) } }

  @Test func cellsNeverOverlapAndStayInsideTheMargins() {
    for grid in Self.grids {
      let layout = SheetLayout(grid)
      let cells = (0..<grid.count).map(layout.cell)
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

  private func isClose(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-6 }

  private func contains(_ outer: SheetBox, _ inner: SheetBox) -> Bool {
    inner.x >= outer.x - 1e-6 && inner.y >= outer.y - 1e-6
      && inner.x + inner.width <= outer.x + outer.width + 1e-6
      && inner.y + inner.height <= outer.y + outer.height + 1e-6
  }
}
