import Files
import SystemPackage
import Testing

@testable import ThumbnailJobs

@Suite struct SourceFilterTests {
  @Test(arguments: [
    ("*.jpg", "a.jpg", true), ("*.jpg", "deep/a.jpg", true), ("*.jpg", "a.png", false), ("*.jpg", "a.JPG", false),
    ("*.[jJ][pP][gG]", "a.JPG", true), ("a?.jpg", "ab.jpg", true), ("2024/*.jpg", "2024/a.jpg", true),
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

  @Test func anEmptyPatternIsRejected() {
    #expect(throws: GlobError(pattern: Array("/".utf8))) { try Glob("/") }
  }

  @Test func manyDoubleStarsAreNotSlow() throws {
    let glob = try Glob(String(repeating: "**/a/", count: 30) + "b")
    let path = Path(String(repeating: "a/", count: 200) + "c")
    #expect(!SourceFilter(includes: [glob]).accepts(file: path))
  }
}
