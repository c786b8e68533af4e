import Files
import Testing

@testable import ThumbnailJobs

@Suite(.timeLimit(.minutes(1)))
struct ThumbnailWalkTests {
  let tree = FileTree()

  private func places(below folder: Path = "", except others: [Path] = []) -> [String] {
    var found: [String] = []
    ThumbnailWalk.forEachFile(below: folder, in: tree.root, except: others) { found.append("\($0)") }
    return found.sorted()
  }

  @Test func outputsOfOtherJobsAreLeftOut() throws {
    let ours: [Path] = [".thumbjob/tree", "a.jpg", ".b/c.jpg"]
    for file in ours + ["videos/.thumbjob/tree", "videos/d.jpg", "videos/e/f.jpg"] { try tree.file(file) }
    #expect(places() == [".b/c.jpg", "a.jpg"])
    #expect(places(below: "videos") == [])
    #expect(places(below: "videos/e") == [], "a folder above it is another output")
  }

  @Test func foldersThatAreNamedAndLinksAreLeftOut() throws {
    for file: Path in ["32x32/a/1.jpg", "32x32/b/2.jpg", "a/3.jpg", "ab/4.jpg"] { try tree.file(file) }
    try tree.link("link", to: "a")
    #expect(places(except: ["32x32"]) == ["a/3.jpg", "ab/4.jpg"])
    #expect(places(except: ["a", "32x32/b"]) == ["32x32/a/1.jpg", "ab/4.jpg"])
    #expect(places(below: "32x32/a") == ["32x32/a/1.jpg"])
    #expect(places(below: "32x32/a", except: ["32x32"]) == [])
    #expect(places(below: "link") == [] && places(below: "none") == [])
  }

  @Test func aWalkStopsWhenItIsTold() throws {
    for number in 0..<10 { try tree.file(Path("\(number).jpg")) }
    var found = 0
    let isEnough = { found == 3 }
    ThumbnailWalk.forEachFile(below: "", in: tree.root, stop: isEnough) { _ in found += 1 }
    #expect(found == 3)
  }
}
