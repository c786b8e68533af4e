import Files
import Foundation
import SystemPackage

/// Where one run keeps what it is writing: `.thumbjob/run-…`, locked while the run lives.
///
/// The lock is what tells a live run from one that was killed: the kernel drops it with the process, however it ends.
final class RunFolder: Sendable {
  static let prefix = "run-"
  /// Temporaries outside the run's folder start with this; see `OutputFolder.publishAcrossDevices`.
  static let besidePrefix = ".thumbjob-"
  /// Files whose contents are the path, from the output folder, of a temporary outside the run's folder.
  static let noteSuffix = ".note"
  private static let lockName: Path = "lock"

  let name: Path
  let descriptor: CInt
  private let lock: CInt
  private let working: CInt
  private let output: CInt

  /// When the run began, by the clock of the file system.
  let began: timespec

  /// Removes the folders of runs that live no more, and takes one for this run.
  ///
  /// - Parameter working: the open folder `.thumbjob`; - Parameter output: the open folder that it is in.
  /// - Throws: `notSupported` and the like where files cannot be locked: every run would think that the others are dead.
  init(in working: CInt, output: CInt) throws(Errno) {
    self.output = output
    // One run at a time: a folder that is made and not yet locked looks like that of a dead one.
    try Self.lockWhole(working)
    defer { flock(working, LOCK_UN) }
    Self.sweepDead(in: working, output: output)
    name = Path("\(Self.prefix)\(String(UInt64.random(in: 0 ... .max), radix: 36))")
    if name.withCString({ mkdirat(working, $0, 0o777) }) != 0 { throw Errno(rawValue: errno) }
    descriptor = try openFolder(name, in: working, flags: O_NOFOLLOW)
    do throws(Errno) {
      lock = try Self.lock(descriptor)
      var status = stat()
      if fstat(descriptor, &status) != 0 { throw Errno(rawValue: errno) }
      began = status.changed
      self.working = dup(working)
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    close(lock)
    close(descriptor)
    close(working)
  }

  /// Removes the folder with what is in it. A writer may add a file meanwhile, so until the folder is gone it looks
  /// again; once it is gone nothing can be added.
  func remove() {
    Self.remove(name, descriptor, in: working, output: output)
  }

  private static func sweepDead(in working: CInt, output: CInt) {
    for name in names(in: working) where name.bytes.starts(with: prefix.utf8) {
      guard let folder = try? openFolder(name, in: working, flags: O_NOFOLLOW) else { continue }
      defer { close(folder) }
      guard let lock = try? lock(folder) else { continue }
      defer { close(lock) }
      remove(name, folder, in: working, output: output)
    }
  }

  private static func remove(_ name: Path, _ folder: CInt, in working: CInt, output: CInt) {
    for _ in 0..<1000 {
      for entry in names(in: folder) {
        if entry.bytes.suffix(noteSuffix.utf8.count).elementsEqual(noteSuffix.utf8) {
          removeBeside(note: entry, in: folder, output: output)
        }
        unlink(entry, in: folder)
      }
      let gone = name.withCString { unlinkat(working, $0, AT_REMOVEDIR) == 0 || errno == ENOENT }
      if gone { return }
    }
  }

  /// Follows a note, but only to a name that a run gives: a note is a file, and anyone may have written it.
  private static func removeBeside(note: Path, in folder: CInt, output: CInt) {
    let file = note.withCString { openat(folder, $0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard file >= 0 else { return }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    guard count > 0, let path = Path(bytes: bytes[..<count]), !path.isAbsolute, path.normalized == path,
      path.lastName.bytes.starts(with: besidePrefix.utf8), path.lastName.bytes.suffix(4).elementsEqual(".tmp".utf8)
    else { return }
    unlink(path, in: output)
  }

  /// Waits for other runs that begin at this moment, each for a few milliseconds.
  private static func lockWhole(_ working: CInt) throws(Errno) {
    for _ in 0..<1000 {
      if flock(working, LOCK_EX | LOCK_NB) == 0 { return }
      if errno != EWOULDBLOCK && errno != EINTR { throw Errno(rawValue: errno) }
      usleep(10_000)
    }
    throw .wouldBlock
  }

  /// - Throws: `wouldBlock` when a living run has the lock.
  private static func lock(_ folder: CInt) throws(Errno) -> CInt {
    let file = try createFile(lockName, in: folder, flags: O_RDWR)
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let error = Errno(rawValue: errno)
      if error == .interrupted { continue }
      close(file)
      throw error
    }
    return file
  }

  private static func names(in folder: CInt) -> [Path] {
    guard case .success(let open) = OpenFolder.open(".", in: folder) else { return [] }
    var names: [Path] = []
    while case .success(let entry?) = open.next() { names.append(entry.name) }
    return names
  }
}
