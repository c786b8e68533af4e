import Testing

@testable import Files

@Suite struct PathTests {
  @Test(arguments: [
    ("plain é 日本.jpg", "plain é 日本.jpg"), ("a\nb\tc\rd", "a\\nb\\tc\\rd"), ("\u{1b}[31m\u{7f}", "\\x1b[31m\\x7f"),
    ("back\\slash", "back\\\\slash"), ("\u{202e}gpj.exe\u{85}", "\\u{202e}gpj.exe\\u{85}"), ("e\u{301}", "e\u{301}"),
  ])
  func aPathIsPrintedAsOneLine(path: String, printed: String) {
    #expect(Path(path).printable == printed)
  }

  @Test func bytesThatAreNotUTF8AreEscapedOneByOne() {
    #expect(Path(bytes: [0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82])!.printable == "a\\xff\\xc3(\\xe2\\x82")
    #expect(Path(bytes: [0xed, 0xa0, 0x80])!.printable == "\\xed\\xa0\\x80", "a lone surrogate")
  }

  @Test func jsonTextReportsWhetherItWasRepaired() {
    #expect(Path("é").jsonText == ("é", false))
    #expect(Path(bytes: [0x61, 0xff])!.jsonText == ("a\u{fffd}", true))
  }

  @Test func aPathKeepsItsBytesAndRejectsNUL() {
    let bytes: [UInt8] = [0x2f, 0x0a, 0xff, 0x2d]
    #expect(Array(Path(bytes: bytes)!.bytes) == bytes)
    #expect(Path(bytes: [0x61, 0, 0x62] as [UInt8]) == nil)
  }

  @Test func separatorsAreCollapsedAndPathsAreSplitAndJoined() {
    #expect(Path("//a//b/") == "/a/b")
    #expect(Path("/").names.isEmpty && Path("/").lastName.isEmpty && Path("/").parent == "/")
    #expect(Path("/a").parent == "/" && Path("a").parent == "" && Path("a/b").parent == "a")
    #expect(
      Path("a").appending("b/c") == "a/b/c" && Path("/").appending("b") == "/b" && Path("a").appending("/b") == "/b")
  }

  @Test func aNormalizedPathDoesNotLeaveItsFolder() {
    #expect(Path("a/./b/../c").normalized == "a/c")
    #expect(Path("a/../../b").normalized == nil)
    #expect(Path("a/..").normalized == "")
    #expect(Path("/../a").normalized == "/a")
  }
}
