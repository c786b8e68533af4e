import Files
import Foundation
import TestSupport
import Testing

@testable import FolderWatching

@Suite(.timeLimit(.minutes(1)))
struct FolderWatcherTests {
  let temporary = TemporaryFolder()
  let watcher: FolderWatcher
  let changes = LockedBox<[FolderChange]>([])

  init() throws { watcher = try FolderWatcher() }

  var root: Path { Path(temporary.path) }

  func path(_ name: String) -> Path { root.appending(Path(name)) }

  func make(_ name: String, _ text: String = "x") throws {
    try Data(text.utf8).write(to: URL(filePath: path(name).description))
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: path(name).description, withIntermediateDirectories: true)
  }

  func move(_ old: String, _ new: String) { #expect(rename(path(old).description, path(new).description) == 0) }

  func start() {
    let changes = changes
    let isStarted = watcher.start { more in changes.change { $0 += more } }
    #expect(isStarted)
  }

  /// Waits until a change is reported.
  func expectSoon(_ change: FolderChange) async throws {
    let changes = changes
    let isReported = try await eventually { changes.value.contains(change) }
    #expect(isReported)
  }

  /// The changes up to the file with which the test ends, without the root.
  func changesSoFar() async throws -> [String] {
    try make("last")
    let last = FolderChange.file(path("last"))
    try await expectSoon(last)
    watcher.stop()
    return changes.value.filter { $0 != last }.map { change in
      switch change {
      case .file(let path): "file \(path.below(root)!)"
      case .folder(let path): "folder \(path.below(root)!)"
      case .gone(let path, let isFolder): "gone \(isFolder ? "folder " : "")\(path.below(root)!)"
      case .unmounted: "unmounted"
      case .overflow: "overflow"
      }
    }
  }

  @Test func aFileIsReportedOnceItIsClosed() async throws {
    try watcher.watch(root)
    start()
    let file = open(path("a").description, O_CREAT | O_WRONLY, 0o644)
    #expect(write(file, "half", 4) == 4)
    try make("b")
    // Reported in order, so when b is, a would have been.
    let second = FolderChange.file(path("b"))
    try await expectSoon(second)
    #expect(changes.value == [second])
    close(file)
    #expect(try await changesSoFar() == ["file b", "file a"])
  }

  @Test func movesRemovalsAndFurtherNamesAreReported() async throws {
    try makeFolder("here")
    try makeFolder("elsewhere")
    for name in ["here/a", "here/b", "elsewhere/c", "elsewhere/d"] { try make(name) }
    for folder in [root, path("here")] { try watcher.watch(folder) }
    start()
    move("here/a", "here/a2")
    unlink(path("here/b").description)
    move("elsewhere/c", "here/c")
    #expect(link(path("elsewhere/d").description, path("here/d").description) == 0)
    #expect(symlink("d", path("here/e").description) == 0)
    #expect(
      try await changesSoFar() == [
        "gone here/a", "file here/a2", "gone here/b", "file here/c", "file here/d", "file here/e",
      ])
  }

  @Test func aMovedFolderIsNoLongerReportedByItsOldPath() async throws {
    try makeFolder("old/deep")
    try makeFolder("old-not")
    for folder in [root, path("old"), path("old/deep"), path("old-not")] { try watcher.watch(folder) }
    #expect(watcher.count == 4)
    start()
    move("old", "new")
    let moved = FolderChange.folder(path("new"))
    try await expectSoon(moved)
    #expect(watcher.count == 2, "the folder and the one in it are watched no more")
    try make("new/unseen")
    try make("old-not/seen")
    try watcher.watch(path("new"))
    try make("new/a")
    #expect(try await changesSoFar() == ["gone folder old", "folder new", "file old-not/seen", "file new/a"])
  }

  @Test func aFolderThatIsWatchedByItsNewPathBeforeTheMoveIsReadStaysWatched() async throws {
    try makeFolder("old")
    for folder in [root, path("old")] { try watcher.watch(folder) }
    // Another thread walks the new folder before this one has read that it was moved.
    move("old", "new")
    try watcher.watch(path("new"))
    start()
    try make("new/a")
    #expect(try await changesSoFar() == ["gone folder old", "folder new", "file new/a"])
    #expect(watcher.count == 2)
  }

  @Test func removedFoldersLeaveNoWatch() async throws {
    try watcher.watch(root)
    start()
    for round in 0..<100 {
      try makeFolder("\(round)")
      try watcher.watch(path("\(round)"))
      rmdir(path("\(round)").description)
    }
    _ = try await changesSoFar()
    #expect(watcher.count == 1)
  }

  @Test func aFileThatGetsItsNameWhileItIsWrittenIsFoundInItsFolder() async throws {
    let temporaryFlag: CInt = 0o20000000 | O_DIRECTORY
    let file = open(root.description, temporaryFlag | O_WRONLY, 0o644)
    try #require(file >= 0, "this file system has files without a name")
    try watcher.watch(root)
    start()
    #expect(write(file, "x", 1) == 1)
    #expect(linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path("a").description, AT_SYMLINK_FOLLOW) == 0)
    close(file)
    #expect(try await changesSoFar() == ["folder "])
  }

  @Test func aLostChangeIsReported() {
    var event: [UInt8] = []
    withUnsafeBytes(of: CInt(-1)) { event += $0 }
    withUnsafeBytes(of: UInt32(IN_Q_OVERFLOW)) { event += $0 }
    event += [UInt8](repeating: 0, count: 8)
    #expect(event.withUnsafeBytes { watcher.changes(in: $0) } == [.overflow])
    #expect(event.dropLast().withUnsafeBytes { watcher.changes(in: $0) } == [], "half an event is none")
  }

  @Test func onlyFoldersAreWatched() throws {
    try make("file")
    #expect(throws: (any Error).self) { try watcher.watch(path("file")) }
    #expect(throws: (any Error).self) { try watcher.watch(path("none")) }
    #expect(watcher.count == 0)
  }

  @Test func onlyFileSystemsWithoutEventsOfOthersAreRemote() {
    #expect(RemoteFileSystem.name(at: "/proc") == nil)
    #expect(RemoteFileSystem.name(at: root) == nil)
    // Of NFS, FUSE, SMB with its sign extended, and ext4.
    let names = [0x6969, 0x6573_5546, -0xACB2BE, 0xEF53].map { RemoteFileSystem.name(ofType: $0) }
    #expect(names == ["NFS", "FUSE", "SMB", nil])
  }
}
