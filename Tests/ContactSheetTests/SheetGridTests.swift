import Testing

@testable import ContactSheet

@Suite(.timeLimit(.minutes(5))) struct SheetGridTests {
  @Test(arguments: [("1x1", 1, 1), ("5x6", 5, 6), ("20x20", 20, 20), ("04x5", 4, 5)])
  func aGridIsColumnsTimesRows(text: String, columns: Int, rows: Int) throws {
    let grid = try SheetGrid(parsing: text)
    #expect(grid == SheetGrid(columns: columns, rows: rows))
    #expect(try SheetGrid(parsing: grid.description) == grid)
  }

  @Test func byDefaultAPageHasTwentyPictures() {
    #expect(SheetGrid().description == "4x5" && SheetGrid().count == 20)
  }

  @Test(arguments: [
    ("", "it is not COLUMNSxROWS"), ("4", "it is not COLUMNSxROWS"), ("4x5x6", "it is not COLUMNSxROWS"),
    ("4X5", "it is not COLUMNSxROWS"), ("x5", "the number of columns is not a whole number"),
    ("4x", "the number of rows is not a whole number"), ("4x-5", "the number of rows is not a whole number"),
    ("٤x5", "the number of columns is not a whole number"), ("0x5", "the number of columns is not from 1 to 20"),
    ("4x21", "the number of rows is not from 1 to 20"),
    ("99999999999999999999x1", "the number of columns is not from 1 to 20"),
  ])
  func anythingElseIsRefusedWithTheReason(text: String, reason: String) {
    #expect(throws: SheetGridError(text: text, reason: reason)) { try SheetGrid(parsing: text) }
  }

  @Test func anErrorIsOneLineWithAnExample() {
    let error = SheetGridError(text: "a\nb", reason: "it is not COLUMNSxROWS")
    #expect(error.description == #"grid 'a\nb': it is not COLUMNSxROWS; for example 4x5"#)
  }
}
