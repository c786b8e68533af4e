import Foundation
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

  @Test func aURLStaysAsGivenAndAPathLosesRepeatedSlashes() {
    for url in ["https://example.org//a//b/", "HTTP://h", "s3://bucket/", "a+b-c.1://x"] {
      #expect(Path(url).printable == url && Path(url).isURL, "\(url)")
    }
    for (path, clean) in [
      ("a://b", "a:/b"), ("//a//b/", "/a/b"), ("d/https://b//c", "d/https:/b/c"), ("1a://b", "1a:/b"), (":://", "::"),
      ("é://b", "é:/b"), ("https:/b/", "https:/b"), ("a b://c", "a b:/c"),
    ] {
      #expect(Path(path).printable == clean && !Path(path).isURL, "\(path)")
    }
  }

  @Test func anEndingFollowsAtLeastOneByteOfTheLastName() {
    let ending = Array(".jpg".utf8)
    for path in ["a.jpg", "d/a.jpg", "d.jpg/a.b.jpg", "/a.jpg"] {
      #expect(Path(path).hasEnding(ending) && Path(path).hasEnding(ending, inAnyCase: true), "\(path)")
      #expect(Path(path).without(ending: ending) == Path(String(path.dropLast(4))), "\(path)")
    }
    for path in ["", "jpg", ".jpg", "d/.jpg", "/.jpg", "a.jpg/b", "a.jpe", "a\u{0e}jpg", "ajpg"] {
      #expect(!Path(path).hasEnding(ending, inAnyCase: true) && Path(path).without(ending: ending) == nil, "\(path)")
    }
    #expect(Path("a.JpG").hasEnding(ending, inAnyCase: true) && !Path("a.JpG").hasEnding(ending))
  }

  @Test func bytesThatAreNotUTF8AreEscapedOneByOne() {
    #expect(Path(bytes: [0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82])!.printable == "a\\xff\\xc3(\\xe2\\x82")
    #expect(Path(bytes: [0xed, 0xa0, 0x80])!.printable == "\\xed\\xa0\\x80", "a lone surrogate")
  }

  @Test func aPathIsFoundAgainFromItsPrintableForm() {
    var generator = SystemRandomNumberGenerator()
    var paths = [
      "plain é 日本.jpg", "a\nb\tc\rd", "\u{1b}[31m\u{7f}", "back\\slash\\x41", "\u{202e}gpj.exe\u{85}", "", "/",
    ]
    .map { Path($0) }
    for _ in 0..<200 { paths += [Path(bytes: (0..<20).map { _ in UInt8.random(in: 1...255, using: &generator) })!] }
    for path in paths { #expect(Path(printable: path.printable) == path, "\(path)") }
    for text in ["a\\", "\\q", "\\x4", "\\xzz", "\\u{41", "\\u{d800}", "\\x00"] {
      #expect(Path(printable: text) == nil, "\(text)")
    }
  }

  @Test func aPathInJSONIsTextOrAnObjectWithItsBytes() throws {
    let (text, bytes) = (Path("a \"é\"\n.jpg"), Path(bytes: [0x61, 0xff])!)
    #expect(try String(decoding: JSONEncoder().encode([JSONPath(text)]), as: UTF8.self) == #"["a \"é\"\n.jpg"]"#)
    let encoded = try JSONEncoder().encode(JSONPath(bytes))
    #expect(try JSONDecoder().decode([String: String].self, from: encoded) == ["text": "a\u{fffd}", "bytes": "Yf8="])
    for path in [text, bytes] {
      #expect(try JSONDecoder().decode(JSONPath.self, from: JSONEncoder().encode(JSONPath(path))).path == path)
    }
    for json in [#""a\u0000""#, #"{"text":"a"}"#, #"{"text":"a","bytes":"?"}"#, "1"] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONPath.self, from: Data(json.utf8)) }
    }
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
