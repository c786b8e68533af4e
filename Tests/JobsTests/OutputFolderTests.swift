import Files
import Foundation
import TestSupport
import Testing

@testable import Marks
@testable import Places

@Suite(.timeLimit(.minutes(5)))
struct OutputFolderTests {
  let tree: FileTree
  let time = timespec(tv_sec: 1_000_000_007, tv_nsec: 123_456_789)

  init() throws { tree = FileTree() }

  /// The `OutputError` that `body` throws; nil if it throws none.
  func error(_ body: () throws -> Void) -> OutputError? {
    do {
      try body()
      return nil
    } catch { return error as? OutputError }
  }

  @Test func aThumbnailHasTheTimeOfItsSourceAndThePermissionsOfTheUmask() throws {
    let output = try OutputFolder(tree.path("new/out"))
    try output.publish([1, 2, 3], to: "deep/er/a.jpg", modified: time)
    let status = try tree.status("new/out/deep/er/a.jpg")
    let mask = umask(0)
    umask(mask)
    #expect(status.st_size == 3 && isSameTime(status.modified, time))
    #expect(status.st_mode & 0o777 == 0o666 & ~mask)
    #expect(try tree.status("new/out/deep").st_mode & 0o777 == 0o777 & ~mask)
    output.close()
    #expect(try tree.files() == ["new/out/deep/er/a.jpg"])
  }

  @Test func publishingReplacesAFileOrALinkButNotTheTargetOfTheLink() throws {
    try tree.file("photo.jpg", "precious")
    try tree.file("out/a.jpg", "old")
    try tree.link("out/b.jpg", to: "../photo.jpg")
    let output = try OutputFolder(tree.path("out"))
    try output.publish(Array("new".utf8), to: "a.jpg", modified: time)
    try output.publish(Array("new".utf8), to: "b.jpg", modified: time)
    #expect(try tree.contents("out/a.jpg") == "new")
    #expect(try tree.contents("out/b.jpg") == "new")
    #expect(try tree.contents("photo.jpg") == "precious")
  }

  @Test func aBlockedPlaceIsAnErrorAndLeavesNoTemporaryFile() throws {
    try tree.folder("out/a.jpg")
    try tree.file("out/b")
    let output = try OutputFolder(tree.path("out"))
    let out = tree.path("out").description
    let long = String(repeating: "n", count: 256)
    for (place, kind, line) in [
      ("a.jpg", OutputError.Kind.blocked, "\(out)/a.jpg: cannot be written: a folder has this name"),
      ("b/c.jpg", .blocked, "\(out)/b/c.jpg: cannot be written: a file is where a folder is needed"),
      (
        long, .nameTooLong,
        "\(out)/\(long): cannot be written: the name is longer than the file system allows"
      ),
    ] {
      let error = error { try output.publish([1], to: Path(place), modified: time) }
      #expect(error?.kind == kind)
      #expect(error?.description == line)
      #expect(error?.isDiskFault == false)
    }
    #expect(try tree.files(below: "out/.thumbjob").map { Path($0).lastName.description } == ["lock"])
  }

  @Test func anOutputThatIsAFileIsRefused() throws {
    let file = try tree.file("out")
    #expect(
      error { _ = try OutputFolder(file) }?.description
        == "\(file): cannot be the output folder: a file is in the way")
    #expect(error { _ = try OutputFolder(tree.path("out/below")) }?.kind == .cannotCreate)
  }

  @Test func filesOfDeadRunsAreRemovedAndThoseOfLiveRunsStay() throws {
    try tree.file("out/.thumbjob/run-dead/1.tmp", "half")
    try tree.file("out/.thumbjob/run-dead/lock", "")
    try tree.file("out/.thumbjob/run-unlocked/2.tmp", "half")
    try tree.file("out/d/.thumbjob-run-dead-7.tmp", "half")
    try tree.file("out/.thumbjob/run-dead/7.tmp.note", "d/.thumbjob-run-dead-7.tmp")
    try tree.file("out/mine.jpg", "kept")
    try tree.file("out/.thumbjob/run-dead/8.tmp.note", "mine.jpg")
    try tree.file("out/.thumbjob/run-dead/9.tmp.note", "../outside/.thumbjob-x.tmp")
    try tree.file("outside/.thumbjob-x.tmp", "kept")
    let live = try OutputFolder(tree.path("out"))
    let second = try OutputFolder(tree.path("out"))
    try live.publish([1], to: "a.jpg", modified: time)
    try second.publish([1], to: "b.jpg", modified: time)
    let left = try tree.files()
    #expect(
      left.filter { !$0.contains("/.thumbjob/") } == [
        "out/a.jpg", "out/b.jpg", "out/mine.jpg", "outside/.thumbjob-x.tmp",
      ])
    #expect(left.filter { $0.contains("/.thumbjob/") }.count == 2, "one lock for each live run")
    live.close()
    second.close()
    #expect(try tree.files(below: "out/.thumbjob").isEmpty)
  }

  @Test func closingDuringWritesLeavesNoPartAndRefusesFurtherWrites() throws {
    let output = try OutputFolder(tree.path("out"))
    let bytes = [UInt8](repeating: 7, count: 1 << 16)
    let started = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let time = time
    for writer in 0..<2 {
      Thread.detachNewThread {
        for index in 0... {
          do throws(OutputError) {
            try output.publish(bytes, to: Path("\(writer)/\(index % 50).jpg"), modified: time)
          } catch {
            if error.kind == .closed { break }
          }
          if index == 20 { started.signal() }
        }
        ended.signal()
      }
    }
    for _ in 0..<2 { started.wait() }
    output.close()
    for _ in 0..<2 { ended.wait() }
    #expect(try tree.files(below: "out/.thumbjob").isEmpty)
    #expect(!tree.exists("out/.thumbjob/run-"))
    for file in try tree.files(below: "out") { #expect(try tree.status(Path("out/\(file)")).st_size == 1 << 16) }
  }

  @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
  func aFullDiskIsADiskFaultAndLeavesNoPart() throws {
    let mounted = try #require(MountedFolder(at: "\(try tree.folder("small"))", options: "size=256k"))
    let output = try OutputFolder(Path(mounted.path))
    try output.publish([UInt8](repeating: 1, count: 1000), to: "fits.jpg", modified: time)
    let failure = error { try output.publish([UInt8](repeating: 1, count: 1 << 20), to: "big.jpg", modified: time) }
    #expect(failure?.isDiskFault == true)
    #expect(failure?.description == "\(mounted.path)/big.jpg: cannot be written: No space left on device")
    output.close()
    #expect(try tree.files(below: "small") == ["fits.jpg"])
  }

  @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
  func aReadOnlyDiskCannotBeTheOutput() throws {
    let mounted = try #require(MountedFolder(at: "\(try tree.folder("ro"))", options: "size=64k"))
    #expect(mounted.makeReadOnly())
    #expect(
      error { _ = try OutputFolder(Path(mounted.path).appending("out")) }?.description
        == "\(mounted.path)/out: cannot be used as the output folder: Read-only file system"
    )
    #expect(error { _ = try OutputFolder(Path(mounted.path)) }?.kind == .cannotCreate)
  }

  @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
  func thumbnailsAreAlsoWrittenToAMountWithinTheOutput() throws {
    let mounted = try #require(MountedFolder(at: "\(try tree.folder("out/mounted"))", options: "size=64k"))
    let output = try OutputFolder(tree.path("out"))
    try output.publish([1, 2], to: "mounted/d/a.jpg", modified: time)
    #expect(isSameTime(try tree.status("out/mounted/d/a.jpg").modified, time))
    try tree.folder("out/mounted/b.jpg")
    #expect(error { try output.publish([1], to: "mounted/b.jpg", modified: time) }?.kind == .blocked)
    #expect(
      error { try output.publish([UInt8](repeating: 1, count: 1 << 17), to: "mounted/c.jpg", modified: time) }?
        .isDiskFault == true)
    output.close()
    #expect(try tree.files(below: "out").isEmpty, "the only files are on the mount")
    #expect(try tree.files(below: "out/mounted") == ["d/a.jpg"])
    withExtendedLifetime(mounted) {}
  }

  @Test func nothingIsRemovedThroughALinkInTheWorkingFolder() throws {
    try tree.file("photos/a.jpg")
    try tree.file("photos/run-x/b.jpg")
    try tree.folder("out/.thumbjob")
    symlink("../../photos", "\(tree.path("out/.thumbjob/run-x"))")
    _ = try OutputFolder(tree.path("out"))
    try tree.folder("other")
    symlink("../photos", "\(tree.path("other/.thumbjob"))")
    #expect(error { _ = try OutputFolder(tree.path("other")) }?.kind == .cannotCreate)
    #expect(try tree.files(below: "photos") == ["a.jpg", "run-x/b.jpg"])
  }

  @Test func aFileThatIsNotAThumbnailIsNotOverwrittenUnlessItIsEmpty() throws {
    try tree.file("out/original.jpg", "precious")
    try tree.file("out/empty.jpg", "")
    symlink("original.jpg", "\(tree.path("out/link.jpg"))")
    let output = try OutputFolder(tree.path("out"))
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + [UInt8](repeating: 0, count: 14) + [0xFF, 0xD9]
    let key = SourceKey(of: tree.path("photo.jpg"), from: tree.path("out"))
    let mark = ThumbnailMark(settings: "s").of(SourceContents(size: 1, ends: []), key)
    func publish(_ place: Path) throws {
      _ = try jpeg.withUnsafeBytes {
        try output.publish(thumbnail: $0, marked: mark, to: place, modified: time, isKept: { _ in false })
      }
    }
    #expect(error { try publish("original.jpg") }?.kind == .foreign)
    #expect(error { try publish("link.jpg") }?.kind == .foreign)
    #expect(try tree.contents("out/original.jpg") == "precious")
    for _ in 0..<2 {
      try publish("empty.jpg")
      try publish("new.jpg")
    }
    #expect(ThumbnailMark(of: tree.path("out/new.jpg"), in: AT_FDCWD) == mark)
  }

  @Test(arguments: ["out", "out/.thumbjob"]) func anOutputFolderThatIsRemovedEndsTheJob(removed: Path) throws {
    let output = try OutputFolder(tree.path("out"))
    try output.publish([1], to: "a/a.jpg", modified: time)
    OpenFolder.remove(tree.path(removed))
    let failure = error { try output.publish([1], to: "a/b.jpg", modified: time) }
    #expect(failure?.kind == .removed && failure?.endsJob == true)
    #expect(failure?.description == "\(tree.path("out").printable): was removed while the run wrote to it")
  }

  @Test func aFolderThatIsRemovedBelowTheOutputIsMadeAgain() throws {
    let output = try OutputFolder(tree.path("out"))
    try output.publish([1], to: "a/a.jpg", modified: time)
    OpenFolder.remove(tree.path("out/a"))
    try output.publish([1], to: "a/b.jpg", modified: time)
    #expect(tree.exists("out/a/b.jpg"))
  }

  @Test func aParentThatAcceptsNoFoldersIsAnErrorAndNotAnEndlessRecursion() {
    #expect(error { _ = try OutputFolder("/proc/no/such") }?.kind == .cannotCreate)
    #expect(error { _ = try OutputFolder("/proc/x") }?.kind == .cannotCreate)
  }
}
