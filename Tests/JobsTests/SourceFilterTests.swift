import Files
import TestSupport
import Testing

@testable import Sourcing

extension SourceFilter {
  fileprivate func accepts(file path: Path) -> Bool {
    var matches = Matches()
    return accepts(file: path, noting: &matches)
  }

  fileprivate func entersFolder(_ path: Path) -> Bool {
    var matches = Matches()
    return entersFolder(path, noting: &matches)
  }
}

@Suite struct SourceFilterTests {
  @Test(arguments: [
    ("*.jpg", "a.jpg", true), ("*.jpg", "deep/a.jpg", true), ("*.jpg", "a.png", false), ("*.jpg", "a.JPG", true),
    ("*.JPG", "a.Jpg", true), ("a*.jpg", "A1.jpg", false), ("*.[jJ][pP][gG]", "a.JPG", true),
    ("*.{jpg,png}", "a.png", true), ("*.{jpg,png}", "a.PNG", true), ("*.{jpg,png}", "a.gif", false),
    ("{2023,2024/{a,b}}/*.jpg", "2024/b/x.jpg", true), ("{2023,2024/{a,b}}/*.jpg", "2024/x.jpg", false),
    ("{raw}", "raw", true), ("\\{a,b\\}", "{a,b}", true), ("[{]a,b}", "{a,b}", true), ("[]]", "]", true),
    ("./2024", "2024", true), ("./2024/*", "2024/a", true), ("./2024", "x/2024", false), ("\\!x", "!x", true),
    ("a?.jpg", "ab.jpg", true), ("2024/*.jpg", "2024/a.jpg", true),
    ("2024/*.jpg", "2024/x/a.jpg", false), ("2024/*.jpg", "old/2024/a.jpg", false),
    ("2024/**/*.jpg", "2024/a.jpg", true), ("2024/**/*.jpg", "2024/x/y/a.jpg", true), ("**/raw/*", "a/b/raw/c", true),
    ("**/raw/*", "raw/c", true), ("**/raw/*", "raw/c/d", false), ("/a.jpg", "a.jpg", true),
    ("/a.jpg", "b/a.jpg", false), ("a/**", "a/b/c", true), ("**/x/**/y", "x/x/q/y", true), ("**/x/**/y", "q/y", false),
    ("cache/", "cache", false), (".*", ".hidden", true), ("*", ".hidden", true),
  ])
  func aPatternMatchesAsInShells(pattern: String, path: String, matches: Bool) throws {
    let filter = SourceFilter(includes: [try Glob(pattern)])
    #expect(filter.accepts(file: Path(path)) == matches)
  }

  @Test func excludesOverrideIncludesAndSkipFolders() throws {
    let filter = SourceFilter(includes: [try Glob("*.jpg")], excludes: [try Glob("cache/"), try Glob("draft*")])
    #expect(filter.accepts(file: "a.jpg"))
    #expect(!filter.accepts(file: "draft1.jpg"))
    #expect(!filter.entersFolder("deep/cache"))
    #expect(!filter.reaches(file: "deep/cache/a.jpg"))
    #expect(filter.accepts(file: "cache") == false, "not a .jpg")
    #expect(filter.reaches(file: "deep/a.jpg"))
  }

  @Test func includesDoNotSkipFolders() throws {
    #expect(SourceFilter(includes: [try Glob("*.jpg")]).entersFolder("deep"))
  }

  @Test func namesNeedNotBeUTF8() throws {
    let name = Path(bytes: [0x61, 0xff, 0x2e, 0x6a, 0x70, 0x67])!
    #expect(SourceFilter(includes: [try Glob("a*.jpg")]).accepts(file: name))
  }

  @Test(arguments: [
    (LongText("/"), GlobError.Reason.empty), ("", .empty), (".", .empty), ("[ab", .openBracket), ("x[!]", .openBracket),
    ("*.{jpg,png", .openBrace), ("!x", .exclamationMark), ("../x", .leavesFolder),
    (LongText(String(repeating: "{a,b}", count: 11)), .tooManyAlternatives),
    (LongText(String(repeating: "{", count: 4_000)), .openBrace),
    (LongText(String(repeating: "{", count: 10_000)), .tooLong),
    (LongText(String(repeating: "{", count: 2_000) + String(repeating: "}", count: 2_000)), .empty),
    (LongText(String(repeating: "[", count: 4_000)), .openBracket), ("{,x}", .empty), ("abc\\", .openEscape),
    ("[a/b]", .openBracket),
  ])
  func aPatternThatCannotMatchIsRejected(pattern: LongText, reason: GlobError.Reason) {
    #expect(throws: GlobError(pattern: Array(pattern.text.utf8), reason: reason)) { try Glob(pattern.text) }
  }

  @Test func patternsThatMatchedNothingAreKnown() throws {
    let filter = SourceFilter(
      includes: ["*.jpg", "a.*", "*.gif"].map { try! Glob($0) }, excludes: ["cache/", "draft*"].map { try! Glob($0) })
    var matches = SourceFilter.Matches()
    #expect(filter.accepts(file: "a.jpg", noting: &matches))
    #expect(!filter.entersFolder("cache", noting: &matches))
    let unmatched = filter.unmatched(matches)
    #expect(unmatched.includes.map(\.description) == ["*.gif"], "two patterns match one file")
    #expect(unmatched.excludes.map(\.description) == ["draft*"])
  }

  @Test func manyDoubleStarsAreNotSlow() throws {
    let glob = try Glob(String(repeating: "**/a/", count: 30) + "b")
    let path = Path(String(repeating: "a/", count: 200) + "c")
    #expect(!SourceFilter(includes: [glob]).accepts(file: path))
  }
}
