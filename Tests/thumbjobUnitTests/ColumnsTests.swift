import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct ColumnsTests {
  @Test func cellsAreAlignedWithTwoSpacesBetweenThem() {
    let rows = [["PID", "STATE", "SOURCES"], ["7", "running", "a folder with a long name"], ["12345", "x", ""]]
    #expect(
      Columns.text(rows) == """
        PID    STATE    SOURCES
        7      running  a folder with a long name
        12345  x        

        """)
  }

  @Test func columnsCanBeAlignedAtTheRight() {
    #expect(Columns.text([["N", "X"], ["1", "22"], ["10", "1"]], right: [0, 1]) == " N  X\n 1  22\n10  1\n")
  }

  @Test func aWideCharacterTakesTwoColumns() {
    #expect(Columns.text([["写真", "x"], ["abcde", "y"]]) == "写真   x\nabcde  y\n")
  }

  @Test func aShortRowAndNoRowsAreFine() {
    #expect(Columns.text([["a", "b"], ["a longer one"]]) == "a  b\na longer one\n")
    #expect(Columns.text([]) == "")
  }
}
