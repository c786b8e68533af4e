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

  /// - Parameter working: the open folder `.thumbjob`; - Parameter output: the open folder that it is in.
  init(in working: CInt, output: CInt) throws(Errno) {
    while true {
      let name = Path("\(Self.prefix)\(String(UInt64.random(in: 0 ... .max), radix: 36))")
      let made = name.withCString { mkdirat(working, $0, 0o777) == 0 ? nil : Errno(rawValue: errno) }
      if made == .fileExists { continue }
      if let made { throw made }
      let folder: CInt
      do { folder = try openFolder(name, in: working) } catch {
        // Another run swept it in the moment before it was locked.
        if error == .noSuchFileOrDirectory { continue }
        throw error
      }
      guard let lock = try? Self.lock(folder, waiting: true), Self.isLinked(lock) else {
        close(folder)
        // A file system that cannot lock would have every run think that the others are dead.
        if Self.cannotLock(working) { throw .notSupported }
        continue
      }
      self.name = name
      self.lock = lock
      self.output = output
      descriptor = folder
      self.working = dup(working)
      return
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

  /// Removes the folders of runs that live no more.
  static func sweepDead(in working: CInt, output: CInt) {
    for name in names(in: working) where name.bytes.starts(with: prefix.utf8) {
      guard let folder = try? openFolder(name, in: working) else { continue }
      defer { close(folder) }
      guard let lock = try? lock(folder, waiting: false) else { continue }
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

  private static func lock(_ folder: CInt, waiting: Bool) throws(Errno) -> CInt {
    let file = try createFile(lockName, in: folder, flags: O_RDWR)
    while flock(file, waiting ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
      let error = Errno(rawValue: errno)
      if error == .interrupted { continue }
      close(file)
      throw error
    }
    return file
  }

  /// False when a sweep took the file away between its being opened and locked.
  private static func isLinked(_ file: CInt) -> Bool {
    var status = stat()
    return fstat(file, &status) == 0 && status.st_nlink > 0
  }

  private static func cannotLock(_ folder: CInt) -> Bool {
    if flock(folder, LOCK_SH | LOCK_NB) == 0 {
      flock(folder, LOCK_UN)
      return false
    }
    return errno != EWOULDBLOCK
  }

  private static func names(in folder: CInt) -> [Path] {
    guard case .success(let open) = OpenFolder.open(".", in: folder) else { return [] }
    var names: [Path] = []
    while case .success(let entry?) = open.next() { names.append(entry.name) }
    return names
  }
}
