import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(1)))
struct UnitsTests {
  @Test(arguments: [
    (Duration.milliseconds(4), "0.0 s"), (.milliseconds(420), "0.4 s"), (.seconds(59), "59.0 s"),
    (.seconds(60), "1 min 0 s"), (.seconds(125), "2 min 5 s"), (.seconds(3599), "59 min 59 s"),
    (.seconds(12_000), "3 h 20 min"),
  ])
  func aDurationHasTwoUnitsAtMost(duration: Duration, text: String) {
    #expect(Units.time(duration) == text)
  }

  @Test(arguments: [(0.04, "0.0"), (99.94, "99.9"), (99.95, "100"), (12_345.6, "12346")])
  func aNumberHasADecimalPlaceBelowAHundred(value: Double, text: String) {
    #expect(Units.decimal(value) == text)
  }

  @Test func aNounIsPluralUnlessThereIsOne() {
    #expect([0, 1, 2].map { Units.count($0, "source") } == ["0 sources", "1 source", "2 sources"])
  }
}

@Suite(.timeLimit(.minutes(1)))
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

  @Test func aShortRowAndNoRowsAreFine() {
    #expect(Columns.text([["a", "b"], ["a longer one"]]) == "a  b\na longer one\n")
    #expect(Columns.text([]) == "")
  }
}

@Suite(.timeLimit(.minutes(1)))
struct ConsoleTests {
  @Test func controlCharactersAndChangesOfDirectionAreEscaped() {
    #expect(Console.escaped("a\u{1B}[31mb\nc") == "a\\u{1B}[31mb\nc")
    #expect(Console.escaped("photo\u{202E}gpj.exe") == "photo\\u{202E}gpj.exe")
    #expect(Console.escaped("Grüße → 写真") == "Grüße → 写真")
  }
}
