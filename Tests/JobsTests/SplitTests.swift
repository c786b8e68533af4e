import Files
import Foundation
import TestSupport
import Testing

@testable import Jobs
@testable import Sourcing
@testable import Splitting

@Suite(.timeLimit(.minutes(5))) struct SplitTests {
  private let tree = FileTree()

  /// Writes a photo. Its bytes need no change in the tests.
  private func photo(_ name: Path) throws {
    try tree.folder(name.parent)
    let file = try createFile(tree.path(name), in: AT_FDCWD, flags: O_WRONLY)
    defer { close(file) }
    try writeAll(Self.bytes, to: file)
  }

  private static let bytes = SyntheticPhoto(seed: 1, width: 64, height: 48).jpeg()

  @discardableResult
  private func split(
    _ sources: Path..., into lists: Path = "lists", parts: Int, outputs: [Path] = [],
    filter: SourceFilter = SourceFilter()
  ) throws(SplitError) -> SplitReport {
    try Split(
      sources.map { .path(tree.path($0)) }, filter: filter, outputs: outputs, into: tree.path(lists), parts: parts
    ).run { Issue.record($0) }
  }

  /// The entries of each list, relative to the folder of the test.
  private func entries(_ lists: Path = "lists", of parts: Int) throws -> [[Path]] {
    try (0..<parts).map { index in
      let file = tree.path(lists).appending(ListFolder.name(index, of: parts))
      let bytes = try readBeginning(of: file, in: AT_FDCWD, limit: .max)
      #expect(bytes.isEmpty || bytes.last == 0)
      return bytes.split(separator: 0).map { Path(bytes: $0)!.below(tree.root)! }
    }
  }

  @Test func everySourceIsInOneListInTheOrderOfTheWalk() throws {
    let names = (0..<200).map { Path("in/\($0 % 7)/photo \($0).jpg") }
    for name in names { try photo(name) }
    try tree.file("in/notes.txt")
    let report = try split("in", parts: 8)
    let lists = try entries(of: 8)
    #expect(Set(lists.joined()) == Set(names) && lists.joined().count == 200)
    for list in lists { #expect(list == list.sorted { NaturalOrder.precedes($0, $1) }) }
    #expect(report.sources == 200 && report.notImages == 1 && report.walk.files == 201 && report.withoutPixels == 0)
    #expect(report.bytes == 200 * Self.bytes.count)
    #expect(try tree.files(below: "lists") == (0..<8).map { "000\($0)" } + ["split.json"])
  }

  @Test func hostileNamesStayWhole() throws {
    let names: [Path] = [
      "in/new\nline.jpg", "in/-rf.jpg", "in/ .jpg", Path(bytes: Array("in/".utf8) + [0xff, 0xfe, 0x80])!,
      Path(bytes: Array("in/".utf8) + [UInt8](repeating: 0xe9, count: 255))!, "in/\u{1b}[31m.jpg", "in/x.. /a.jpg",
    ]
    for name in names { try photo(name) }
    try split("in", parts: 3)
    #expect(Set(try entries(of: 3).joined()) == Set(names))
  }

  @Test func theSameTreeGivesTheSameBytes() throws {
    for number in 0..<60 { try photo(Path("in/\(number % 3)/\(number).jpg")) }
    let report = try split("in", into: "a", parts: 9)
    try split("in", into: "b", parts: 9)
    for file in try tree.files(below: "a") {
      #expect(try tree.contents(Path("a/\(file)")) == tree.contents(Path("b/\(file)")), "\(file)")
    }
    #expect(report.spread! <= 0.2 && report.empty == 0)
  }

  @Test func listsOfAnEarlierSplitAreReplacedAndNoOtherFileIs() throws {
    for number in 0..<20 { try photo(Path("in/\(number).jpg")) }
    try split("in", parts: 12)
    try split("in", parts: 3)
    #expect(try tree.files(below: "lists") == ["0000", "0001", "0002", "split.json"])
    try split("in", parts: 10_001)
    #expect(tree.exists("lists/10000") && tree.exists("lists/00002") && !tree.exists("lists/0002"))
    try split("in", parts: 2)
    #expect(try tree.files(below: "lists") == ["0000", "0001", "split.json"])
    for foreign: Path in ["lists/notes", "lists/0002", "lists/00001", "lists/.hidden"] {
      try tree.file(foreign, "mine")
      #expect(throws: SplitError.isForeign(tree.path(foreign))) { try split("in", parts: 3) }
      #expect(try tree.contents(foreign) == "mine" && tree.files(below: "lists").count == 4)
      unlink(tree.path(foreign), in: AT_FDCWD)
    }
    try tree.file("other/split.json", "{}")
    #expect(throws: SplitError.isForeign(tree.path("other/split.json"))) { try split("in", into: "other", parts: 3) }
    try tree.file("file")
    #expect(throws: SplitError.cannotCreate(tree.path("file"), .fileExists)) { try split("in", into: "file", parts: 3) }
  }

  @Test func nothingIsWrittenIfASourceIsMissing() throws {
    try photo("in/a.jpg")
    var errors: [WalkError] = []
    #expect(throws: SplitError.missingSource) {
      try Split([.path(tree.path("in")), .path(tree.path("gone"))], into: tree.path("lists"), parts: 2).run {
        errors.append($0)
      }
    }
    #expect(errors.map(\.kind) == [.missingArgument] && !tree.exists("lists"))
  }

  @Test func aSplitThatWasKilledIsCleanedUp() throws {
    try photo("in/a.jpg")
    for leftover: Path in ["0000", "0001", "split.json", "lock"] {
      try tree.file(Path("lists/.split").appending(leftover))
    }
    try split("in", parts: 1)
    #expect(try tree.files(below: "lists") == ["0000", "split.json"] && !tree.exists("lists/.split"))
  }

  @Test func listsThatAreHalfReplacedAreRefusedUntilTheyAreSplitAgain() throws {
    for number in 0..<20 { try photo(Path("in/\(number).jpg")) }
    try split("in", parts: 5)
    let marker = try tree.contents("lists/split.json")
    try tree.file(
      "lists/split.json",
      marker.replacing("\"complete\":true", with: "\"complete\":false").replacing("[]", with: "[5,20000]"))
    try tree.file("lists/19999", "")
    let lists = tree.path("lists")
    #expect(throws: ListFolderError.unfinished(lists)) { try ListFolder.read(lists) }
    #expect(throws: ListFolderError.unfinished(lists)) { try ListFolder.list(at: lists.appending("0003")) }
    try split("in", parts: 4)
    #expect(try tree.files(below: "lists").count == 5 && ListFolder.read(lists)?.parts == 4)
  }

  @Test func twoSplitsNeverWriteToOneFolder() throws {
    try photo("in/a.jpg")
    let first = try ListWriter(tree.path("lists"))
    #expect(throws: SplitError.isBusy(tree.path("lists"))) { try split("in", parts: 2) }
    withExtendedLifetime(first) {}
  }

  @Test func filesThatAreNoSourcesAreLeftOut() throws {
    try photo("in/a.jpg")
    try photo("in/out/b.jpg")
    try photo("in/lists/c.jpg")
    try tree.file("in/broken.jpg", "no picture")
    try tree.file("in/empty.jpg", "")
    try tree.fifo("in/pipe.jpg")
    let report = try split("in", into: "in/new", parts: 1, outputs: [tree.path("in/out")])
    #expect(
      try Set(entries("in/new", of: 1)[0])
        == ["in/a.jpg", "in/lists/c.jpg", "in/broken.jpg", "in/empty.jpg"], "the run reports broken ones")
    #expect(report.withoutPixels == 2 && report.walk.special == 1)
    try split("in", into: "in/new", parts: 1, outputs: [tree.path("in/out")])
    #expect(try entries("in/new", of: 1)[0].count == 4, "the lists are never sources")
  }

  @Test func aFileThatIsGivenTwiceIsInOneList() throws {
    for number in 0..<9 { try photo(Path("in/d/\(number).jpg")) }
    let report = try split("in", "in/d", "in/d/3.jpg", parts: 4)
    #expect(report.sources == 9 && report.duplicates == 10)
    #expect(try entries(of: 4).joined().count == 9)
  }

  @Test func theEntriesMirrorTheTreeOfTheSources() throws {
    for name: Path in ["in/d/a.jpg", "in/e/a.jpg"] { try photo(name) }
    for (sources, expected) in [(["in"], ["d/a.jpg", "e/a.jpg"]), (["in/d", "in/e"], ["d/a.jpg", "e/a.jpg"])] {
      let split = Split(sources.map { .path(tree.path(Path($0))) }, into: tree.path("lists"), parts: 1)
      _ = try split.run { Issue.record($0) }
      let list = try #require(try ListFolder.list(at: tree.path("lists/0000")))
      var found: [String] = []
      SourceWalker(arguments: [.list(list)]).walk(
        onError: { Issue.record($0) },
        visit: { source in
          found.append(source.relativePath.description)
          return .goOn
        })
      #expect(found == expected)
    }
    #expect(try ListFolder.list(at: tree.path("in/d/a.jpg")) == nil)
    #expect(try ListFolder.read(tree.path("in")) == nil)
  }

  // MARK: Headers

  private func header(_ name: Path) -> SourceHeader {
    SourceHeader(
      of: Source(path: tree.path(name), relativePath: name, argument: 0, origin: .folder))
  }

  @Test func theCostComesFromSizeAndPixels() throws {
    try photo("a.jpg")
    let size = Self.bytes.count
    #expect(header("a.jpg") == .source(SourceCost(bytes: size, pixels: 64 * 48), hasPixels: true, bytes: size))
    #expect(SourceCost(bytes: 4 << 20, pixels: 0).units > SourceCost(bytes: 1 << 20, pixels: 0).units)
    #expect(SourceCost(bytes: 0, pixels: 12_000_000).units > SourceCost(bytes: 0, pixels: 1_000_000).units)
    #expect(SourceCost(bytes: .max, pixels: .max).units == .max)
    let kinds = [
      SourceCost(.heic, pixels: 8 << 20), SourceCost(.png, pixels: 8 << 20),
      SourceCost(bytes: 2 << 20, pixels: 8 << 20),
    ]
    #expect(kinds[0].units > 2 * kinds[1].units && kinds[1].units > 20 * kinds[2].units)
    #expect(SourceCost(.png, pixels: 10_000_000_000) == SourceCost(.png, pixels: 0), "it fails by its header")
    #expect(header("gone.jpg") == .source(SourceCost(bytes: 0, pixels: 0), hasPixels: false, bytes: 0))
  }

  @Test func aHeaderAfterMuchMetadataIsFound() throws {
    var photo = Self.bytes
    let segment = [0xff, 0xe1, 0xff, 0xff] + [UInt8](repeating: 0xff, count: 65533)
    for _ in 0..<3 { photo.insert(contentsOf: segment, at: 2) }
    let file = try createFile(tree.path("a.jpg"), in: AT_FDCWD, flags: O_WRONLY)
    defer { close(file) }
    try writeAll(photo, to: file)
    guard case .source(_, hasPixels: true, _) = header("a.jpg") else {
      Issue.record("no pixels found")
      return
    }
    // Cut off within the frame header, and within the metadata.
    for size in [3 * segment.count + 100, 100_000] {
      ftruncate(file, off_t(size))
      #expect(header("a.jpg") == .source(SourceCost(bytes: size, pixels: 0), hasPixels: false, bytes: size))
    }
  }
}
