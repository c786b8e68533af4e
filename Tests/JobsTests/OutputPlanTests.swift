import Files
import Foundation
import Testing
import Thumbnails

@testable import Places
@testable import Sourcing

@Suite(.timeLimit(.minutes(5)))
struct OutputPlanTests {
  let tree: FileTree

  init() throws { tree = FileTree() }

  /// The placement of every source that a walk of these arguments finds, by "argument:relative path".
  func plan(
    _ arguments: Path..., filter: SourceFilter = SourceFilter(), formats: [ThumbnailFormat] = [.jpeg]
  ) -> [String: OutputPlan.Placement] {
    let walker = SourceWalker(arguments: arguments.map { .path(tree.path($0)) }, filter: filter)
    let plan = OutputPlan(walker: walker, formats: formats) { [tree] path in
      (try? tree.contents(Path(bytes: path.bytes.dropFirst(tree.root.length + 1))!)) == "image"
    }
    var result: [String: OutputPlan.Placement] = [:]
    for source in Walked(walker).sources {
      result["\(source.argument):\(source.relativePath)"] = plan.placement(of: source)
    }
    return result
  }

  @Test(arguments: [
    ("a.jpg", "a.jpg"), ("d/A.JPEG", "d/A.JPEG"), ("a.jpe", "a.jpe"), ("a.JfIf", "a.JfIf"), ("s.png", "s.png.jpg"),
    ("noname", "noname.jpg"), (".jpg", ".jpg.jpg"), ("a.", "a..jpg"), ("jpg", "jpg.jpg"), ("a.jpg/b", "a.jpg/b.jpg"),
  ])
  func onlyANameWithoutAJPEGEndingGetsOne(relative: String, place: String) {
    #expect(Path(relative).named(as: .jpeg) == Path(place))
  }

  @Test(arguments: [
    (ThumbnailFormat.webp, "a.jpg", "a.jpg.webp"), (.webp, "scan.webp", "scan.webp"), (.avif, "d/A.AVIF", "d/A.AVIF"),
    (.avif, "a.webp", "a.webp.avif"), (.png, "a.png", "a.png"), (.png, "noname", "noname.png"),
  ])
  func eachFormatHasItsEnding(format: ThumbnailFormat, relative: String, place: String) {
    #expect(Path(relative).named(as: format) == Path(place))
  }

  @Test func eachFormatHasItsOwnRivals() throws {
    for name in ["scan.png", "scan.png.jpg", "scan.png.webp", "photo.webp", "photo"] {
      try tree.file(Path("in/\(name)"), "image")
    }
    let taken = OutputPlan.Placement.taken(by: tree.path("in/scan.png"))
    #expect(plan("in", formats: [.webp])["0:scan.png.webp"] == taken)
    #expect(plan("in", formats: [.webp])["0:scan.png.jpg"] == .place("scan.png.jpg"))
    #expect(plan("in", formats: [.webp])["0:photo.webp"] == .taken(by: tree.path("in/photo")))
    #expect(plan("in", formats: [.jpeg, .webp])["0:scan.png.webp"] == taken)
    #expect(plan("in", formats: [.jpeg, .webp])["0:scan.png.jpg"] == taken)
    #expect(plan("in", formats: [.avif])["0:scan.png.webp"] == .place("scan.png.webp"))
  }

  @Test func ofTwoSiblingsTheOneWithoutTheEndingGetsThePlace() throws {
    try tree.file("in/scan.png", "image")
    try tree.file("in/scan.png.jpg", "image")
    #expect(
      plan("in") == [
        "0:scan.png": .place("scan.png"), "0:scan.png.jpg": .taken(by: tree.path("in/scan.png")),
      ])
  }

  @Test func aSiblingThatIsNoImageOrIsExcludedClaimsNoPlace() throws {
    try tree.file("in/notes", "text")
    try tree.file("in/notes.jpg", "image")
    try tree.file("in/raw", "image")
    try tree.file("in/raw.jpg", "image")
    let filter = SourceFilter(excludes: [try Glob("raw")])
    #expect(plan("in", filter: filter)["0:notes.jpg"] == .place("notes.jpg"))
    #expect(plan("in", filter: filter)["0:raw.jpg"] == .place("raw.jpg"))
    #expect(plan("in")["0:raw.jpg"] == .taken(by: tree.path("in/raw")))
  }

  @Test func aJPEGWithTwoEndingsKeepsItsName() throws {
    try tree.file("in/a.jpg", "image")
    try tree.file("in/a.jpg.jpg", "image")
    #expect(plan("in") == ["0:a.jpg": .place("a.jpg"), "0:a.jpg.jpg": .place("a.jpg.jpg")])
  }

  @Test func severalArgumentsAreMirroredFromTheFolderTheyShare() throws {
    for name in ["one/d/a.jpg", "two/d/a.jpg", "two/a.jpg"] { try tree.file(Path(name), "image") }
    #expect(plan("one", "two/d") == ["0:one/d/a.jpg": .place("one/d/a.jpg"), "1:two/d/a.jpg": .place("two/d/a.jpg")])
    #expect(plan("one", "two/a.jpg")["1:two/a.jpg"] == .place("two/a.jpg"))
    #expect(plan("one/d/a.jpg", "two/a.jpg")["0:one/d/a.jpg"] == .place("one/d/a.jpg"))
    #expect(plan("two/a.jpg", "two/d/a.jpg")["0:a.jpg"] == .place("a.jpg"), "two is the folder they share")
  }

  @Test func aLinkMakesTwoArgumentsContestAPlace() throws {
    try tree.file("one/real/a.jpg", "image")
    try tree.file("other/real/a.jpg", "image")
    try tree.link("one/link", to: "../other/real")
    // From the text alone, `one/link/../real` is `one/real`. The kernel follows the link first.
    let contested = tree.path("one/link/../real/a.jpg")
    #expect(plan("one/real/a.jpg", "one/link/../real/a.jpg")["1:a.jpg"] == .taken(by: tree.path("one/real/a.jpg")))
    #expect(plan("one/link/../real", "one/real")["1:a.jpg"] == .taken(by: contested))
  }

  @Test func filesThatAreArgumentsContestPlacesToo() throws {
    try tree.file("two/a.jpg", "image")
    try tree.file("two/a", "image")
    #expect(plan("two/a", "two/a.jpg")["1:a.jpg"] == .taken(by: tree.path("two/a")))
    #expect(plan("two/a.jpg")["0:a.jpg"] == .place("a.jpg"), "its sibling is not an argument")
  }

  @Test func theSameFileFromTwoArgumentsIsADuplicate() throws {
    let file = try tree.file("in/a.jpg", "image")
    try tree.file("in/d/b.jpg", "image")
    #expect(plan("in", "in/d")["1:d/b.jpg"] == .duplicate(of: tree.path("in/d/b.jpg")))
    #expect(plan("in", "in/a.jpg")["1:a.jpg"] == .duplicate(of: file))
    #expect(plan("in/a.jpg", "in")["1:a.jpg"] == .duplicate(of: file))
    #expect(plan("in/a.jpg", "in/a.jpg")["1:a.jpg"] == .duplicate(of: file))
  }

  @Test func aFileThatTheWalkDoesNotReachClaimsNoPlace() throws {
    try tree.file("real/a", "image")
    try tree.folder("one")
    try tree.link("one/a", to: "../real/a")
    try tree.file("one/.b", "image")
    for name in ["one/a.jpg", "one/.b.jpg"] { try tree.file(Path(name), "image") }
    #expect(plan("one") == ["0:a.jpg": .place("a.jpg")])
    #expect(plan("one", "one/.b.jpg")["1:.b.jpg"] == .place(".b.jpg"))
  }

  @Test func thumbnailsCannotGoIntoTheWorkingFolder() throws {
    let source = Source(path: "x", relativePath: ".thumbjob/settings", argument: 0, origin: .list)
    let plan = OutputPlan(walker: SourceWalker(arguments: [])) { _ in true }
    #expect(plan.placement(of: source) == .reserved)
  }
}
