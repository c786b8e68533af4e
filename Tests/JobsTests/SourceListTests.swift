import Files
import Foundation
import Testing

@testable import Sourcing

@Suite(.timeLimit(.minutes(5)))
struct SourceListTests {
  let tree: FileTree

  init() throws { tree = FileTree() }

  func walked(_ list: String, _ separator: SourceList.Separator, filter: SourceFilter = SourceFilter()) throws -> Walked
  {
    let file = try tree.file("list", list)
    return Walked(
      SourceWalker(arguments: [.list(SourceList(file: file, separator: separator))], filter: filter))
  }

  @Test func entriesAreReadInOrderAndEmptyOnesAreSkipped() throws {
    let a = try tree.file("in/a.jpg")
    let b = try tree.file("in/new\nline.jpg")
    let found = try walked("\(a)\0\0\(tree.root)/in/new\nline.jpg", .nul)
    #expect(found.sources.map(\.path) == [a, b])
    #expect(found.sources.allSatisfy { $0.origin == .list })
    #expect(try walked("\n\(a)\n\n", .newline).sources.map(\.path) == [a])
  }

  @Test func anAbsoluteEntryIsMirroredByItsWholePath() throws {
    let a = try tree.file("in/a.jpg")
    let source = try #require(try walked("\(tree.root)/in/../in/./a.jpg\n", .newline).sources.first)
    #expect(source.relativePath == Path(String(a.description.dropFirst())))
  }

  @Test(arguments: [
    ("a/b.jpg", "a/b.jpg"), ("./a/../b.jpg", "b.jpg"), ("/x/../../y.jpg", "y.jpg"), ("-x.jpg", "-x.jpg"),
    ("//x//y.jpg", "x/y.jpg"),
  ])
  func anEntryIsMirroredByItsNormalizedPath(entry: String, place: String) {
    #expect(SourceList.relativePath(of: Path(entry)) == Path(place))
  }

  @Test func anEntryThatLeavesTheWorkingFolderIsMirroredByItsAbsolutePath() throws {
    let here = Path(FileManager.default.currentDirectoryPath)
    let expected = here.parent.appending("x.jpg")
    #expect(SourceList.relativePath(of: "../x.jpg") == Path(names: expected.names))
  }

  @Test func missingLongAndNulEntriesAreReportedAndTheOthersAreRead() throws {
    let a = try tree.file("in/a.jpg")
    let found = try walked("nowhere.jpg\n\(String(repeating: "y", count: 200_000))\nbad\0line\n\(a)\n", .newline)
    #expect(found.sources.map(\.path) == [a])
    #expect(found.errors.map(\.kind) == [.missingEntry, .badEntry, .nulInEntry])
    #expect(found.errors[2].description == "bad: begins a line that contains a NUL character")
  }

  @Test func aFolderInAListIsWalkedAndTheFilterApplies() throws {
    try tree.file("in/a.jpg")
    try tree.file("in/b.png")
    let filter = SourceFilter(includes: [try Glob("*.jpg")])
    let found = try walked("\(tree.path("in"))\n\(tree.path("in/b.png"))\n", .newline, filter: filter)
    #expect(found.sources.map(\.path) == [tree.path("in/a.jpg")])
    #expect(found.counters.filtered == 2)
  }

  @Test func aListThatCannotBeOpenedIsReported() throws {
    let list = SourceList(file: tree.path("no-list"), separator: .nul)
    let found = Walked(SourceWalker(arguments: [.list(list)]))
    #expect(found.errors.map(\.description) == ["\(tree.path("no-list")): no such file or folder"])
    #expect(!list.canBeReadTwice)
  }

  @Test func aPipeWithoutAWriterDoesNotPreventAStop() throws {
    try tree.fifo("pipe")
    let walker = SourceWalker(arguments: [.list(SourceList(file: tree.path("pipe"), separator: .nul))])
    #expect(!walker.canBeWalkedTwice)
    var asked = 0
    walker.walk(
      shouldStop: {
        asked += 1
        return true
      }, onError: { _ in }, visit: { _ in .goOn })
    #expect(asked == 1)
  }
}
