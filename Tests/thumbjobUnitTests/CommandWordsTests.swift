import Files
import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct CommandWordsTests {
  private func table(_ words: [String]) -> CommandWords.Table { CommandWords.Table(words.map { Array($0.utf8) }) }

  @Test func fewWordsReachTheParserUnchanged() {
    let words = ["run", "a.jpg", "--max", "4", "-", "--out=there"]
    #expect(table(words).parsed == words)
  }

  @Test func oneWordStandsForAllButTheFirstNameOfALongRow() {
    let names = (0..<1000).map { "photo\($0).jpg" }
    let table = table(["-o", "out"] + names + ["--json"])
    // The first word of the row is "out", the value of an option.
    #expect(table.parsed.count == 4 && table.parsed[0...1] == ["-o", "out"] && table.parsed[3] == "--json")
    #expect(table.paths(of: table.parsed[2]) == names.map { Path($0) })
  }

  @Test func aRowOfTheLongestLengthIsKept() {
    let names = (0..<CommandWords.Table.longestRow).map { "\($0)" }
    #expect(table(names).parsed == names)
    #expect(table(names + ["x"]).parsed.count == 2)
  }

  @Test func theBytesOfANameThatIsNotUTF8AreFoundAgain() {
    let (first, second): ([UInt8], [UInt8]) = ([0x61, 0xFF], [0x61, 0xFE])
    let table = CommandWords.Table([first, second, Array("--out=".utf8) + first])
    #expect(Set(table.parsed.prefix(2)).count == 2, "both are repaired to the same text")
    #expect(table.bytes(of: table.parsed[0]) == first && table.bytes(of: table.parsed[1]) == second)
    #expect(table.parsed[2].hasPrefix("--out="))
    #expect(table.bytes(of: String(table.parsed[2].dropFirst(6))) == first)
  }
}
