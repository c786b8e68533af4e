import Files
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LockedFolderTests {
  private let place = TemporaryFolder()
  private let parent: Descriptor

  init() throws { parent = Descriptor(try openFolder(Path(place.path), in: AT_FDCWD)) }

  private func kind(
    lockName: Path? = nil, willRemove: @escaping @Sendable (Path, CInt) -> Void = { _, _ in }
  ) -> LockedFolder.Kind {
    LockedFolder.Kind(prefix: "run-", permissions: 0o700, lockName: lockName, passes: 10, willRemove: willRemove)
  }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() }

  @Test(arguments: [nil, "lock"] as [Path?])
  func foldersOfDeadProcessesAreRemovedAndThoseOfLiveOnesStay(lockName: Path?) throws {
    let live = try LockedFolder(in: parent.number, kind(lockName: lockName))
    try place.write([1], to: "run-dead/deep/er/file")
    try place.write([1], to: "other/file")
    try place.write([1], to: "run-file")
    let killed: Path
    do {
      // Its descriptors are closed without `remove()`, as the kernel closes those of a killed process.
      let folder = try LockedFolder(in: parent.number, kind(lockName: lockName))
      killed = folder.name
      try place.write([1], to: "\(killed)/half")
    }
    #expect(try names().count == 4, "run-dead was removed, and the folder of the killed process is still there")
    var next = try LockedFolder(in: parent.number, kind(lockName: lockName))
    // A process that another test is just starting has the locks of this one, until its program runs.
    for _ in 0..<500 where place.exists("\(killed)") {
      usleep(10_000)
      next.remove()
      next = try LockedFolder(in: parent.number, kind(lockName: lockName))
    }
    #expect(try names() == ["other", "run-file", "\(live.name)", "\(next.name)"].sorted())
    live.remove()
    next.remove()
    #expect(try names() == ["other", "run-file"])
  }

  /// The locks of another machine may not be seen.
  @Test func aFolderOfAnotherMachineStaysForAnHour() throws {
    try place.write([1], to: "run-01234567zfresh/file")
    try place.write([1], to: "run-01234567zold/file")
    let times = [timespec(tv_sec: time(nil) - 4000, tv_nsec: 0), timespec(tv_sec: time(nil) - 4000, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, place("run-01234567zold"), times, 0) == 0)
    let folder = try LockedFolder(in: parent.number, kind(lockName: "lock"))
    #expect(try names() == ["run-01234567zfresh", "\(folder.name)"].sorted())
    folder.remove()
  }

  /// A network file system keeps a removed file, and with it the folder, while it is open.
  @Test func filesThatAreKeptAreClosedAtTheRemovalAndTheirNumbersStayTaken() throws {
    let folder = try LockedFolder(in: parent.number, kind(lockName: "lock"))
    let file = Descriptor(try createFile("file", in: folder.descriptor, flags: O_WRONLY))
    folder.keep(file)
    folder.remove()
    var (status, folderStatus) = (stat(), stat())
    #expect(fstat(file.number, &status) == 0 && fstat(folder.descriptor, &folderStatus) == 0)
    #expect(FileIdentity(status) == FileIdentity(folderStatus) && !file.write([1]))
    #expect(fcntl(file.number, F_GETFD) & FD_CLOEXEC != 0)
    #expect(try names().isEmpty)
  }

  @Test func nothingIsRemovedThroughALink() throws {
    try place.write([1], to: "photos/a")
    symlink("photos", place("run-link"))
    let folder = try LockedFolder(in: parent.number, kind())
    symlink("../photos", place("\(folder.name)/link"))
    folder.remove()
    LockedFolder.remove("run-link", in: parent.number, kind())
    #expect(try names() == ["photos", "run-link"] && place.exists("photos/a"))
  }

  @Test func aFolderWithAnotherPrefixIsNotRemoved() throws {
    try place.write([1], to: "mine/a")
    LockedFolder.remove("mine", in: parent.number, kind())
    #expect(place.exists("mine/a"))
  }

  @Test func willRemoveIsCalledForEachEntryBeforeItIsRemoved() throws {
    let announced = LockedBox<Set<Path>>([])
    let folder = try LockedFolder(
      in: parent.number,
      kind { entry, folder in
        let exists = entry.withCString { faccessat(folder, $0, F_OK, 0) == 0 }
        if exists { announced.change { _ = $0.insert(entry) } }
      })
    try place.write([1], to: "\(folder.name)/a")
    try place.write([1], to: "\(folder.name)/b/c")
    folder.remove()
    #expect(announced.value == ["a", "b"])
  }

  @Test func aFolderThatCannotBeCreatedThrowsTheReason() throws {
    let proc = Descriptor(try openFolder("/proc/self", in: AT_FDCWD))
    #expect(throws: LockedFolderError.self) { try LockedFolder(in: proc.number, kind()) }
    #expect(throws: LockedFolderError.cannotLockParent(.badFileDescriptor)) { try LockedFolder(in: -1, kind()) }
  }
}
