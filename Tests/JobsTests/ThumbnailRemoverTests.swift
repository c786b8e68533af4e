import Files
import Foundation
import TestSupport
import Testing

@testable import Marks
@testable import Places

@Suite(.timeLimit(.minutes(1)))
struct ThumbnailRemoverTests {
  let tree = FileTree()

  init() throws { try tree.folder("out") }

  /// Writes a thumbnail: a JPEG with our mark.
  ///
  /// - Returns: its size.
  @discardableResult
  func thumbnail(_ path: Path, of source: Path? = nil) throws -> Int {
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + [UInt8](repeating: 0, count: 14) + [0xFF, 0xD9]
    let key = source.map { SourceKey(of: tree.path($0), from: tree.path("out")) }
    let mark = ThumbnailMark(settings: "these").of(SourceContents(size: 1, ends: []), key)
    let marked = jpeg.withUnsafeBytes { mark.inserted(into: $0) }
    try tree.folder(path.parent)
    try Data(marked).write(to: URL(filePath: tree.path(path).description))
    return marked.count
  }

  func remove(_ place: Path, of source: Path = "a.jpg", unnamed: Bool = true) throws -> ThumbnailRemover.Outcome {
    try ThumbnailRemover(tree.path("out")).remove(place, of: tree.path(source), unnamed: unnamed)
  }

  @Test func aThumbnailIsRemovedWithTheFoldersItLeavesEmpty() throws {
    let size = try thumbnail("out/album/deep/er/a.jpg")
    try thumbnail("out/album/b.jpg")
    #expect(try remove("album/deep/er/a.jpg") == .removed(bytes: size))
    #expect(!tree.exists("out/album/deep"))
    #expect(try remove("album/b.jpg") == .removed(bytes: size))
    #expect(try tree.files(below: "out").isEmpty && !tree.exists("out/album"))
    #expect(tree.exists("out"), "the output folder itself stays")
  }

  @Test func foldersWithOtherFilesStay() throws {
    let size = try thumbnail("out/album/deep/a.jpg")
    try tree.file("out/album/notes.txt")
    #expect(try remove("album/deep/a.jpg") == .removed(bytes: size))
    #expect(try tree.files(below: "out") == ["album/notes.txt"])
  }

  @Test func onlyRegularFilesWithOurMarkAreRemoved() throws {
    try tree.file("out/foreign.jpg", "someone else's")
    try tree.file("out/empty.jpg", "")
    try tree.folder("out/folder.jpg")
    try tree.fifo("out/fifo.jpg")
    try thumbnail("outside.jpg")
    try tree.link("out/link.jpg", to: "../outside.jpg")
    // An editor has kept the picture and dropped the comment.
    try thumbnail("out/edited.jpg")
    let bytes = try Data(contentsOf: URL(filePath: tree.path("out/edited.jpg").description))
    try (bytes.prefix(20) + bytes.suffix(2)).write(to: URL(filePath: tree.path("out/edited.jpg").description))
    for place: Path in ["foreign.jpg", "empty.jpg", "folder.jpg", "fifo.jpg", "link.jpg", "edited.jpg"] {
      #expect(try remove(place) == .notOurs, "\(place)")
      #expect(tree.exists(Path("out").appending(place)), "\(place)")
    }
    #expect(tree.exists("outside.jpg"))
  }

  @Test func noLinkAndNoPathLeadsOutOfTheFolder() throws {
    try thumbnail("elsewhere/a.jpg")
    try tree.link("out/album", to: "../elsewhere")
    try thumbnail("out/.thumbjob/a.jpg")
    let absolute = tree.path("elsewhere/a.jpg")
    for place: Path in [
      "album/a.jpg", "../elsewhere/a.jpg", "x/../../elsewhere/a.jpg", ".thumbjob/a.jpg", "", absolute,
    ] {
      #expect(try remove(place) == .notOurs, "\(place)")
    }
    #expect(tree.exists("elsewhere/a.jpg") && tree.exists("out/.thumbjob/a.jpg"))
  }

  @Test func aMissingFileOrFolderIsNoError() throws {
    try tree.file("out/file.jpg")
    #expect(try remove("a.jpg") == .notThere)
    #expect(try remove("no/such/a.jpg") == .notThere)
    #expect(try remove("file.jpg/a.jpg") == .notOurs)
    #expect(throws: OutputError(.cannotRemove, tree.path("none"), .noSuchFileOrDirectory)) {
      try ThumbnailRemover(tree.path("none"))
    }
  }

  @Test func aMarkOfAnotherSourceKeepsTheThumbnail() throws {
    let size = try thumbnail("out/a.jpg", of: "photos/a.jpg")
    #expect(try remove("a.jpg", of: "photos/b.jpg") == .notOurs)
    #expect(try remove("a.jpg", of: "photos/a.jpg") == .removed(bytes: size))
    let plain = try thumbnail("out/a.jpg")
    #expect(try remove("a.jpg", of: "photos/b.jpg", unnamed: false) == .notOurs, "its mark names no source")
    #expect(try remove("a.jpg", of: "photos/b.jpg", unnamed: true) == .removed(bytes: plain))
  }

  @Test func aDryRunRemovesNothing() throws {
    let size = try thumbnail("out/album/a.jpg")
    let remover = try ThumbnailRemover(tree.path("out"), isDryRun: true)
    #expect(try remover.remove("album/a.jpg", of: "a.jpg", unnamed: true) == .removed(bytes: size))
    #expect(tree.exists("out/album/a.jpg"))
  }

  @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
  func aThumbnailThatCannotBeRemovedIsAnError() throws {
    try thumbnail("out/album/a.jpg")
    try FileManager.default.removeItem(atPath: tree.path("out/album/a.jpg").description)
    let mounted = try #require(MountedFolder(at: "\(tree.path("out/album"))", options: "size=64k"))
    try thumbnail("out/album/a.jpg")
    #expect(mounted.makeReadOnly())
    let expected = OutputError(.cannotRemove, tree.path("out/album/a.jpg"), .readOnlyFileSystem)
    #expect(throws: expected) { try remove("album/a.jpg") }
    #expect(expected.description == "\(tree.path("out/album/a.jpg")): cannot be removed: Read-only file system")
    withExtendedLifetime(mounted) {}
  }

  @Test func thumbnailsAreMadeAndRemovedInOneFolderAtTheSameTime() async throws {
    let output = try OutputFolder(tree.path("out"))
    let size = try thumbnail("sample.jpg")
    let bytes = try Array(Data(contentsOf: URL(filePath: tree.path("sample.jpg").description)))
    let path = tree.path("out")
    // Each removal empties the folder, which the next thumbnail needs.
    let removed = try await onThread {
      let remover = try ThumbnailRemover(path)
      let (file, deep, album) = (
        path.appending("album/deep/a.jpg"), path.appending("album/deep"), path.appending("album")
      )
      let isDone = LockedBox(false)
      let failure = LockedBox<OutputError?>(nil)
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do throws(OutputError) {
          for _ in 0..<2000 { try output.publish(bytes, to: "album/deep/a.jpg", modified: timespec()) }
        } catch {
          failure.change { $0 = error }
        }
        isDone.change { $0 = true }
        ended.signal()
      }
      var removed = 0
      while !isDone.value {
        if try remover.remove("album/deep/a.jpg", of: "a.jpg", unnamed: true) == .removed(bytes: size) { removed += 1 }
        // The same in fewer steps, to come more often just after the folder is made and before it has its file. The pause
        // lets the other thread succeed sometimes: no thumbnail finds a place between removals without end.
        for _ in 0..<100 {
          if file.withCString({ unlink($0) }) == 0 { removed += 1 }
          for folder in [deep, album] { _ = folder.withCString { rmdir($0) } }
        }
        usleep(50)
      }
      ended.wait()
      #expect(failure.value == nil)
      return removed
    }
    #expect(removed > 0)
  }
}
