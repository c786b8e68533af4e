import Foundation
import Locking

/// A temporary folder that its process keeps locked for as long as it lives.
///
/// The kernel releases the lock when the process ends, even if it is killed. An unlocked folder was therefore left by a
/// dead process. The next process that creates a folder of the same kind in the same place removes it.
///
/// A network file system may keep locks from other machines. The name of a folder therefore has the machine, and a folder of
/// another machine is only removed if nothing in it has changed for an hour. And it keeps a removed file under a name that
/// begins with `.nfs` while a process has it open. Files in a folder are therefore closed before it is removed; what another
/// process still has open stays for the next process that creates a folder.
///
/// *Concurrency*: from any thread.
package final class LockedFolder: Sendable {
  /// The properties that all folders of one purpose share.
  package struct Kind: Sendable {
    /// The beginning of their names. Folders with other names are never removed.
    let prefix: String
    let permissions: mode_t
    /// The name of the file in the folder that is locked; nil to lock the folder itself.
    let lockName: Path?
    /// What the file that is locked tells other processes of this one.
    let about: [UInt8]
    /// How often removing is tried, because another thread or process may add files meanwhile.
    let passes: Int
    /// Microseconds between two tries. If there is no pause, removing ends when a try has removed nothing.
    let pause: useconds_t
    let willRemove: @Sendable (_ entry: Path, _ folder: CInt) -> Void

    /// - Parameters:
    ///   - about: what the file that is locked tells other processes of this one, at most ``LockedFolder/longestAbout`` bytes.
    ///   - willRemove: called just before an entry of a folder is removed, with the entry and the open folder.
    package init(
      prefix: String, permissions: mode_t, lockName: Path? = nil, about: [UInt8] = [], passes: Int,
      pause: useconds_t = 0, willRemove: @escaping @Sendable (_ entry: Path, _ folder: CInt) -> Void = { _, _ in }
    ) {
      (self.prefix, self.permissions, self.lockName, self.about) = (prefix, permissions, lockName, about)
      (self.passes, self.pause, self.willRemove) = (passes, pause, willRemove)
    }
  }

  /// The folder of another process, which lives.
  package struct Other: Sendable, Equatable {
    package let name: Path
    /// What its process tells others, as anyone may have written it; empty if that cannot be read.
    package let about: [UInt8]
  }

  /// The most bytes that are read of what a process tells others.
  package static let longestAbout = 4096

  package let name: Path
  /// The folders of this kind in the same place that other processes had locked when this one was made.
  package let others: [Other]
  private let kind: Kind
  private let folder: Descriptor
  private let lock: Descriptor
  private let parent: Descriptor
  /// The files that are open until the folder is removed.
  private let files = Locked<[Descriptor]>([])

  /// The open folder.
  package var descriptor: CInt { folder.number }

  /// Removes the folders of this kind that dead processes have left, and creates one for this process.
  ///
  /// - Parameter parent: the open folder to create it in. It may be closed afterwards.
  /// - Throws: ``LockedFolderError``; no folder is left then. A file system without locks is an error too, because
  ///   every folder there would look like that of a dead process.
  package init(in parent: CInt, _ kind: Kind) throws(LockedFolderError) {
    self.kind = kind
    // One process at a time, because a folder that is not locked yet looks like that of a dead process. Each takes a
    // few milliseconds.
    do throws(Errno) { try Self.lock(parent, tries: 1000) } catch { throw .cannotLockParent(error) }
    defer { flock(parent, LOCK_UN) }
    others = Self.sweep(in: parent, kind)
    let number = fcntl(parent, F_DUPFD_CLOEXEC, 0)
    if number < 0 { throw .cannotMake(Errno(rawValue: errno)) }
    let copy = Descriptor(number)
    let name = Path("\(kind.prefix)\(Self.machine)\(String(UInt64.random(in: 0 ... .max), radix: 36))")
    guard name.withCString({ mkdirat(parent, $0, kind.permissions) }) == 0 else {
      throw .cannotMake(Errno(rawValue: errno))
    }
    do throws(Errno) {
      folder = Descriptor(try openFolder(name, in: parent, flags: O_NOFOLLOW))
      lock = try Self.lock(folder, kind)
      // Without this, other processes see all the same that this one lives.
      if kind.lockName != nil { Self.write(kind.about, to: lock) }
    } catch {
      Self.remove(name, in: parent, kind)
      throw .cannotLock(name, error)
    }
    (self.name, self.parent) = (name, copy)
  }

  /// Those of the ``others`` that still live. Removes the folders of dead processes.
  package func othersAlive() -> [Other] {
    // Another process that begins or looks sweeps right now.
    guard (try? Self.lock(parent.number, tries: 1)) != nil else { return others }
    defer { flock(parent.number, LOCK_UN) }
    let alive = Self.sweep(in: parent.number, kind, besides: name).map(\.name)
    return others.filter { alive.contains($0.name) }
  }

  /// Closes a file when the folder is removed. Later calls on its descriptor fail.
  package func keep(_ file: Descriptor) { files.withLock { $0.append(file) } }

  /// Removes the folder and its contents, without following links. Tries again if another thread has added a file
  /// meanwhile. Does not wait for threads that use its files.
  package func remove() {
    for file in files.withLock({ $0 }) { file.close(leaving: folder) }
    Self.remove(name, folder, lock: lock, in: parent.number, kind)
  }

  /// Removes the folder of this name, locked or not. Leaves folders of other kinds alone.
  ///
  /// - Parameter parent: the open folder that contains it.
  package static func remove(_ name: Path, in parent: CInt, _ kind: Kind) {
    guard name.bytes.starts(with: kind.prefix.utf8),
      let folder = try? openFolder(name, in: parent, flags: O_NOFOLLOW)
    else { return }
    remove(name, Descriptor(folder), lock: nil, in: parent, kind)
  }

  /// - Parameter lock: closed before its file is removed. The file comes last: while it is locked, no other process takes the
  ///   folder for that of a dead one.
  private static func remove(_ name: Path, _ folder: Descriptor, lock: Descriptor?, in parent: CInt, _ kind: Kind) {
    for pass in 1...kind.passes {
      var names: [Path] = []
      var isChanged = false
      if case .success(let open) = OpenFolder.open(".", in: folder.number) {
        names = open.names()
        for entry in names where entry != kind.lockName {
          kind.willRemove(entry, folder.number)
          if open.remove(entry) { isChanged = true }
        }
        if let lockName = kind.lockName, names.contains(lockName) {
          lock?.close(leaving: folder)
          if open.remove(lockName) { isChanged = true }
        }
      }
      let isGone = name.withCString { unlinkat(parent, $0, AT_REMOVEDIR) == 0 || errno == ENOENT }
      if isGone { return }
      // For example, because another process has all that is left open.
      if kind.pause == 0, !isChanged, !names.isEmpty { return }
      if pass < kind.passes, kind.pause > 0 { usleep(kind.pause) }
    }
  }

  /// Removes the folders of dead processes.
  ///
  /// - Parameter own: the folder of this process; nil before it has one.
  /// - Returns: those of live ones.
  private static func sweep(in parent: CInt, _ kind: Kind, besides own: Path? = nil) -> [Other] {
    guard case .success(let open) = OpenFolder.open(".", in: parent) else { return [] }
    var others: [Other] = []
    for name in open.names() where name.bytes.starts(with: kind.prefix.utf8) && name != own {
      guard let number = try? openFolder(name, in: parent, flags: O_NOFOLLOW) else { continue }
      let folder = Descriptor(number)
      if isOfOtherMachine(name, kind), hasChanged(folder) {
        // Where the file system keeps no locks from other machines, it is not known whether the process lives.
        if isLocked(folder, kind) { others.append(other(name, folder, kind)) }
        continue
      }
      do throws(Errno) {
        let lock = try lock(folder, kind)
        remove(name, folder, lock: lock, in: parent, kind)
      } catch {
        if error == .wouldBlock { others.append(other(name, folder, kind)) }
      }
    }
    return others
  }

  private static func write(_ about: [UInt8], to file: Descriptor) {
    _ = about.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) }
  }

  private static func other(_ name: Path, _ folder: Descriptor, _ kind: Kind) -> Other {
    let about = kind.lockName.flatMap { readFile($0, in: folder.number, limit: longestAbout) }
    return Other(name: name, about: about ?? [])
  }

  /// Whether another process holds the lock of a folder. Makes nothing.
  private static func isLocked(_ folder: Descriptor, _ kind: Kind) -> Bool {
    var file = folder
    if let name = kind.lockName {
      guard let number = try? openToRead(name, in: folder.number, flags: O_NOFOLLOW | O_NONBLOCK) else { return false }
      file = Descriptor(number)
    }
    if retryOnInterrupt({ flock(file.number, LOCK_SH | LOCK_NB) }) == 0 {
      flock(file.number, LOCK_UN)
      return false
    }
    return errno == EWOULDBLOCK
  }

  /// Begins the names of this machine's folders: eight digits that change when it starts, and a letter that is no digit. It is
  /// empty where the system has none. All containers of a machine have the same, and see each other's locks.
  ///
  /// *Source*: random(4).
  private static let machine: String = {
    guard let bytes = readFile("/proc/sys/kernel/random/boot_id", limit: 64), bytes.count >= 8,
      bytes.prefix(8).allSatisfy(isDigit)
    else { return "" }
    return String(decoding: bytes.prefix(8), as: UTF8.self) + "z"
  }()

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

  private static func isOfOtherMachine(_ name: Path, _ kind: Kind) -> Bool {
    let rest = Array(name.bytes.dropFirst(kind.prefix.utf8.count))
    guard rest.count > 9, rest.prefix(8).allSatisfy(isDigit), rest[8] == UInt8(ascii: "z") else { return false }
    return !rest.starts(with: machine.utf8) || machine.isEmpty
  }

  /// The seconds after which the folder of another machine counts as left.
  private static let longestSilence = 3600

  /// Whether an entry of the folder was made or removed of late.
  private static func hasChanged(_ folder: Descriptor) -> Bool {
    var status = stat()
    return fstat(folder.number, &status) == 0 && status.modified.tv_sec > time(nil) - longestSilence
  }

  /// - Returns: the descriptor that holds the lock.
  /// - Throws: `wouldBlock` if a live process holds the lock.
  private static func lock(_ folder: Descriptor, _ kind: Kind) throws(Errno) -> Descriptor {
    var file = folder
    if let name = kind.lockName { file = Descriptor(try createFile(name, in: folder.number, flags: O_RDWR)) }
    try lock(file.number, tries: 1)
    return file
  }

  /// - Parameter tries: how often to try, every 10 ms, while another process holds the lock.
  private static func lock(_ file: CInt, tries: Int) throws(Errno) {
    for trial in 1...tries {
      if retryOnInterrupt({ flock(file, LOCK_EX | LOCK_NB) }) == 0 { return }
      let error = Errno(rawValue: errno)
      guard error == .wouldBlock else { throw error }
      if trial < tries { usleep(10_000) }
    }
    throw .wouldBlock
  }
}

/// A locked folder could not be created.
package enum LockedFolderError: Error, Equatable {
  /// The folder to create it in could not be locked.
  case cannotLockParent(Errno)
  case cannotMake(Errno)
  /// It was created with this name, could not be locked, and was removed again.
  case cannotLock(Path, Errno)

  /// The error of the system.
  package var error: Errno {
    switch self {
    case .cannotLockParent(let error), .cannotMake(let error), .cannotLock(_, let error): error
    }
  }
}
