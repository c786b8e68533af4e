import Files
import Foundation
import Testing

@testable import Sourcing

@Suite struct SourceTreeTests {
  let tree = FileTree()

  private func mirrored(_ arguments: Path...) -> [String] {
    let paths = arguments.map { tree.path($0) }
    let sources = SourceTree(of: paths.map { .path($0) })
    return paths.map { sources.relativePath(ofArgument: $0).description }
  }

  @Test func oneArgumentIsTheBeginningOfTheTree() throws {
    try tree.file("in/d/a.jpg")
    #expect(mirrored("in") == [""] && mirrored("in/d/") == [""] && mirrored("in/d/a.jpg") == ["a.jpg"])
    #expect(mirrored("in", "in") == ["", ""])
  }

  @Test func severalArgumentsAreInTheTreeBelowTheirCommonFolder() throws {
    for name in ["in/d/a.jpg", "in/e/a.jpg", "in/da/b.jpg"] { try tree.file(Path(name)) }
    #expect(mirrored("in/d", "in/e") == ["d", "e"])
    #expect(mirrored("in/d", "in/da") == ["d", "da"], "names are compared whole")
    #expect(mirrored("in/d/a.jpg", "in/e/a.jpg") == ["d/a.jpg", "e/a.jpg"])
    #expect(mirrored("in", "in/d/a.jpg") == ["", "d/a.jpg"])
    #expect(mirrored("in/./x/../d", "in/e") == ["d", "e"])
  }

  @Test func anArgumentThatIsMissingMovesNoOther() throws {
    try tree.file("in/a.jpg")
    #expect(mirrored("in", "gone") == ["in", "gone"])
  }

  @Test func withAListTheTreeBeginsAtTheWorkingFolder() throws {
    let file = try tree.file("in/a.jpg")
    let list = SourceArgument.list(SourceList(file: "list", separator: .nul))
    #expect(SourceTree(of: [.path(file), list]).relativePath(ofArgument: file) == SourceList.relativePath(of: file))
  }

  @Test func theRootMayBeTheCommonFolder() {
    let sources = SourceTree(of: [.path("/no-such-a/x"), .path("/no-such-b")])
    #expect(sources.relativePath(ofArgument: "/no-such-a/x") == "no-such-a/x")
    #expect(SourceTree(of: [.path("/")]).relativePath(ofArgument: "/") == "")
  }
}
