import Files
import Foundation
import Testing
import Thumbnails

@testable import JobSettings
@testable import Marks
@testable import Places

@Suite(.timeLimit(.minutes(1)))
struct EarlierRunsTests {
  let tree = FileTree()

  /// Opens the output folder for thumbnails of these sizes, as a run does, and puts a file into each set.
  private func run(_ sizes: String...) throws -> [String] {
    var output = OutputSettings()
    output.folder = tree.path("out")
    output.sizes = try sizes.map { try SizeSpec(parsing: $0) }
    let options = output.thumbnailOptions(failOn: .error, limitPixels: 1)
    let opened = try ThumbnailOutput(path: output.folder, options: options, isDryRun: false)
    for (size, folder) in zip(options.sizes, opened.folders) {
      let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + [UInt8](repeating: 0, count: 14) + [0xFF, 0xD9]
      let marked = jpeg.withUnsafeBytes { ThumbnailMark(settings: size.name).inserted(into: $0) }
      try tree.folder(folder.below(tree.root)!)
      try Data(marked).write(to: URL(filePath: folder.appending("a.jpg").description))
    }
    return opened.earlier.left.map { "\($0.folder.below(tree.root)!) \($0.size)" }
  }

  @Test func thumbnailsOfOtherSizesAreFoundAsLongAsTheyExist() throws {
    #expect(try run("256") == [])
    #expect(try run("256") == [])
    #expect(try run("small=100", "large=900") == ["out 256x256"])
    #expect(try run("small=100", "huge=2000") == ["out 256x256", "out/large 900x900"])
    #expect(try run("300") == ["out/huge 2000x2000", "out/large 900x900", "out/small 100x100"])
    for gone: Path in ["out/huge", "out/large", "out/small"] { OpenFolder.remove(tree.path(gone)) }
    #expect(try run("300") == [])
    OpenFolder.remove(tree.path("out/a.jpg"))
    try tree.file("out/notes.txt")
    try tree.file("out/album/original.jpg")
    #expect(try run("small=100", "large=900") == [], "no file in the folder itself is a thumbnail")
  }
}
