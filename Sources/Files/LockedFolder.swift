import Foundation
import SystemPackage

/// A temporary folder that is locked for as long as its process lives.
///
/// The kernel releases the lock when the process ends, however it ends. So a folder that is not locked was left by a
/// process that was killed, and the next one that makes a folder of this kind in the same place removes it. Folders of
/// live processes stay.
///
/// *Concurrency*: every method may be called from any thread.
package final class LockedFolder: Sendable {
  /// What the folders of one purpose have in common.
  package struct Kind: Sendable {
    /// How their names begin. No other folder is ever removed.
    let prefix: String
    let permissions: mode_t
    /// The file in the folder that is locked; nil locks the folder itself.
    let lockName: Path?
    /// How often removing starts again while another thread or process adds files.
    let passes: Int
    /// Microseconds between two passes.
    let pause: useconds_t
    let willRemove: @Sendable (_ entry: Path, _ folder: CInt) -> Void

    /// - Parameter willRemove: called with each entry of a folder, and that folder, just before the entry is removed.
    package init(
      prefix: String, permissions: mode_t, lockName: Path? = nil, passes: Int, pause: useconds_t = 0,
      willRemove: @escaping @Sendable (_ entry: Path, _ folder: CInt) -> Void = { _, _ in }
    ) {
      (self.prefix, self.permissions, self.lockName) = (prefix, permissions, lockName)
      (self.passes, self.pause, self.willRemove) = (passes, pause, willRemove)
    }
  }

  package let name: Path
  private let kind: Kind
  private let folder: Descriptor
  private let lock: Descriptor
  private let parent: Descriptor

  /// The open folder.
  package var descriptor: CInt { folder.number }

  /// Removes the folders of this kind that dead processes have left, and makes one for this process.
  ///
  /// - Parameter parent: the open folder to make it in. It may be closed afterwards.
  /// - Throws: ``LockedFolderError``; no folder is left then. Of a file system without locks every folder would look like
  ///   that of a dead process, so it is an error.
  package init(in parent: CInt, _ kind: Kind) throws(LockedFolderError) {
    self.kind = kind
    // One process at a time: a folder that is made and not yet locked looks like that of a dead process. Each takes a few
    // milliseconds.
    do throws(Errno) { try Self.lock(parent, tries: 1000) } catch { throw .cannotLockParent(error) }
    defer { flock(parent, LOCK_UN) }
    Self.sweep(in: parent, kind)
    let copy = Descriptor(fcntl(parent, F_DUPFD_CLOEXEC, 0))
    let name = Path("\(kind.prefix)\(String(UInt64.random(in: 0 ... .max), radix: 36))")
    guard copy.number >= 0, name.withCString({ mkdirat(parent, $0, kind.permissions) }) == 0 else {
      throw .cannotMake(Errno(rawValue: errno))
    }
    do throws(Errno) {
      folder = Descriptor(try openFolder(name, in: parent, flags: O_NOFOLLOW))
      lock = try Self.lock(folder, kind)
    } catch {
      Self.remove(name, in: parent, kind)
      throw .cannotLock(name, error)
    }
    (self.name, self.parent) = (name, copy)
  }

  /// Removes the folder with all that is in it, never through a link. A writer may add a file meanwhile, so it looks again
  /// until the folder is gone; once it is gone nothing can be added. Waits for no lock.
  package func remove() { Self.remove(name, descriptor, in: parent.number, kind) }

  /// Removes the folder of this name, locked or not. Does nothing to a folder that is not of this kind.
  ///
  /// - Parameter parent: the open folder that it is in.
  package static func remove(_ name: Path, in parent: CInt, _ kind: Kind) {
    guard name.bytes.starts(with: kind.prefix.utf8),
      let folder = try? openFolder(name, in: parent, flags: O_NOFOLLOW)
    else { return }
    defer { close(folder) }
    remove(name, folder, in: parent, kind)
  }

  private static func remove(_ name: Path, _ folder: CInt, in parent: CInt, _ kind: Kind) {
    for pass in 1...kind.passes {
      if case .success(let open) = OpenFolder.open(".", in: folder) {
        for entry in open.names() {
          kind.willRemove(entry, folder)
          open.remove(entry)
        }
      }
      let isGone = name.withCString { unlinkat(parent, $0, AT_REMOVEDIR) == 0 || errno == ENOENT }
      if isGone { return }
      if pass < kind.passes, kind.pause > 0 { usleep(kind.pause) }
    }
  }

  private static func sweep(in parent: CInt, _ kind: Kind) {
    guard case .success(let open) = OpenFolder.open(".", in: parent) else { return }
    for name in open.names() where name.bytes.starts(with: kind.prefix.utf8) {
      guard let number = try? openFolder(name, in: parent, flags: O_NOFOLLOW) else { continue }
      let folder = Descriptor(number)
      guard let lock = try? lock(folder, kind) else { continue }
      withExtendedLifetime(lock) { remove(name, folder.number, in: parent, kind) }
    }
  }

  /// - Returns: the descriptor that holds the lock.
  /// - Throws: `wouldBlock` when a live process has the lock.
  private static func lock(_ folder: Descriptor, _ kind: Kind) throws(Errno) -> Descriptor {
    var file = folder
    if let name = kind.lockName { file = Descriptor(try createFile(name, in: folder.number, flags: O_RDWR)) }
    try lock(file.number, tries: 1)
    return file
  }

  /// - Parameter tries: how often to try, every 10 ms, while another process has the lock.
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

/// There is no locked folder.
package enum LockedFolderError: Error, Equatable {
  /// The folder that it was to be made in cannot be locked.
  case cannotLockParent(Errno)
  case cannotMake(Errno)
  /// It was made under this name, could not be locked, and is removed again.
  case cannotLock(Path, Errno)

  /// What the system says.
  package var error: Errno {
    switch self {
    case .cannotLockParent(let error), .cannotMake(let error), .cannotLock(_, let error): error
    }
  }
}
