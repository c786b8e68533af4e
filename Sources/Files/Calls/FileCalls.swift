import Foundation

#if os(Linux)
import CLinux
#endif

// System calls on paths that throw errors and repeat interrupted calls.

/// Opens a file.
///
/// - Parameters:
///   - folder: the open folder that a relative path starts from, or `AT_FDCWD`.
///   - flags: of open(2). No child process inherits the descriptor.
///   - mode: the mode of a file that is created, of which the umask takes away.
/// - Returns: the descriptor; the caller closes it.
package func openFile(_ path: Path, in folder: CInt, flags: CInt, mode: mode_t = 0) throws(Errno) -> CInt {
  let file = path.withCString { name in retryOnInterrupt { openat(folder, name, flags | O_CLOEXEC, mode) } }
  if file < 0 { throw Errno(rawValue: errno) }
  return file
}

/// Opens a file to read it. Does not wait for the writer of a FIFO.
///
/// - Parameters:
///   - folder: the open folder that a relative path starts from; default: the working folder.
///   - flags: further flags of open(2), such as `O_NOFOLLOW`.
/// - Returns: the descriptor; the caller closes it.
package func openToRead(_ path: Path, in folder: CInt = AT_FDCWD, flags: CInt = 0) throws(Errno) -> CInt {
  try openFile(path, in: folder, flags: O_RDONLY | O_NONBLOCK | flags)
}

/// Opens a folder.
///
/// - Parameters:
///   - folder: the open folder that a relative path starts from, or `AT_FDCWD`.
///   - flags: further flags of open(2), such as `O_NOFOLLOW`.
/// - Returns: the descriptor; the caller closes it.
package func openFolder(_ path: Path, in folder: CInt, flags: CInt = 0) throws(Errno) -> CInt {
  try openFile(path, in: folder, flags: O_RDONLY | O_DIRECTORY | flags)
}

/// Opens a file, and creates it if it is missing, with the permissions that the umask allows. Fails if it is a link.
///
/// - Returns: the descriptor; the caller closes it.
package func createFile(_ path: Path, in folder: CInt, flags: CInt, mode: mode_t = 0o666) throws(Errno) -> CInt {
  try openFile(path, in: folder, flags: flags | O_CREAT | O_NOFOLLOW, mode: mode)
}

/// Creates a file without a name, to read and write. It is gone when its descriptor is closed.
///
/// - Parameters:
///   - path: of the folder whose file system the file is on.
///   - folder: the open folder that a relative path starts from, or `AT_FDCWD`.
///   - mode: the access rights, of which the umask takes away.
/// - Returns: the descriptor; the caller closes it.
package func createUnnamedFile(on path: Path = ".", in folder: CInt, mode: mode_t = 0o666) throws(Errno) -> CInt {
  if let file = try openUnnamedFile(in: path, from: folder, mode: mode) { return file }
  let name = path.appending(Path(".thumbjob-\(getpid())-\(UInt32.random(in: 0 ... .max)).tmp"))
  let file = try openFile(name, in: folder, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
  unlink(name, in: folder)
  return file
}

/// Creates a file that has no name and may get one with `link`, to read and write. It is gone when its descriptor is closed,
/// unless it has a name.
///
/// - Parameters:
///   - path: of the folder whose file system the file is on, and which gives it group and access rights.
///   - folder: the open folder that a relative path starts from.
///   - mode: the access rights, of which the umask takes away.
/// - Returns: the descriptor, which the caller closes; nil if the file system has no such files.
package func openUnnamedFile(in path: Path, from folder: CInt, mode: mode_t = 0o666) throws(Errno) -> CInt? {
  #if os(Linux)
  do throws(Errno) {
    return try openTemporary(in: path, from: folder, mode)
  } catch {
    switch error {
    // ext4 says so of a folder that is removed at this moment.
    case .notPermitted:
      let open = Descriptor(try openFolder(path, in: folder))
      do throws(Errno) { return try openTemporary(in: ".", from: open.number, mode) } catch {
        throw error == .notPermitted && isNameless(open.number) ? .noSuchFileOrDirectory : error
      }
    // Some file systems cannot, and say so in different ways.
    case .notSupported, .isDirectory, .invalidArgument, .noFunction: return nil
    default: throw error
    }
  }
  #else
  return nil
  #endif
}

/// Whether an open folder has no name any more.
package func isNameless(_ folder: CInt) -> Bool {
  var status = stat()
  return fstat(folder, &status) == 0 && status.st_nlink == 0
}

#if os(Linux)
private func openTemporary(in path: Path, from folder: CInt, _ mode: mode_t) throws(Errno) -> CInt {
  try openFile(path, in: folder, flags: O_RDWR | temporaryFlag, mode: mode)
}
#endif

/// Gives an open file a name that no other file has.
///
/// - Throws: also `noFunction` if `/proc` is not mounted.
package func link(_ file: Descriptor, to path: Path, in folder: CInt) throws(Errno) {
  let own = "/proc/self/fd/\(file.number)"
  if path.withCString({ linkat(AT_FDCWD, own, folder, $0, AT_SYMLINK_FOLLOW) }) == 0 { return }
  let error = Errno(rawValue: errno)
  throw error == .noSuchFileOrDirectory && access(own, F_OK) != 0 ? .noFunction : error
}

#if os(Linux)
/// `O_TMPFILE`, a macro that Swift does not import.
private let temporaryFlag: CInt = 0o20000000 | O_DIRECTORY
#endif

/// `UTIME_OMIT`, a macro that Swift does not import: leaves a time unchanged.
#if os(Linux)
private let unchangedTime = (1 << 30) - 2
#else
private let unchangedTime = -2
#endif

/// Creates a file and writes it. Removes it again if anything fails.
///
/// - Parameters:
///   - mode: the access rights, of which the umask takes away.
///   - modified: the modification time that the file gets.
///   - isDurable: whether to wait until the disk has the contents.
/// - Returns: the status of the file.
package func write(
  _ bytes: UnsafeRawBufferPointer, to path: Path, in folder: CInt, mode: mode_t = 0o666, modified: timespec,
  isDurable: Bool = false
) throws(Errno) -> stat {
  let file = try createFile(path, in: folder, flags: O_WRONLY | O_EXCL, mode: mode)
  var failure: Errno?
  do throws(Errno) { try fill(file, with: bytes, modified: modified, isDurable: isDurable) } catch { failure = error }
  var status = stat()
  if failure == nil, fstat(file, &status) != 0 { failure = Errno(rawValue: errno) }
  do throws(Errno) { try closeChecked(file) } catch { failure = failure ?? error }
  if let failure {
    unlink(path, in: folder)
    throw failure
  }
  return status
}

/// Sets the modification time of an open file. A file system that cannot keep the time keeps the nearest that it can, or, if
/// it refuses the time, another one.
package func setModified(_ time: timespec, of file: CInt) throws(Errno) {
  var times = [timespec(tv_sec: 0, tv_nsec: unchangedTime), time]
  guard futimens(file, &times) != 0 else { return }
  if errno != EINVAL || time.isKeptEverywhere { throw Errno(rawValue: errno) }
}

/// Writes a new file, and sets its modification time.
///
/// - Parameter isDurable: whether to wait until the disk has the contents.
package func fill(
  _ file: CInt, with bytes: UnsafeRawBufferPointer, modified: timespec, isDurable: Bool
) throws(Errno) {
  try writeAll(bytes, to: file)
  try setModified(modified, of: file)
  if isDurable { try syncToDisk(file) }
}

/// Throws the error that closing the file would throw, and leaves it open.
package func flush(_ file: CInt) throws(Errno) {
  let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
  if copy < 0 { throw Errno(rawValue: errno) }
  try closeChecked(copy)
}

/// Closes a file that was written. A network file system may report only now that it has no room.
func closeChecked(_ file: CInt) throws(Errno) {
  // On Linux an interrupted call has closed the file.
  if close(file) != 0 && errno != EINTR { throw Errno(rawValue: errno) }
}

/// Waits until the disk has the contents of a file or the names in a folder: fsync(2).
package func syncToDisk(_ descriptor: CInt) throws(Errno) {
  if retryOnInterrupt({ fsync(descriptor) }) != 0 { throw Errno(rawValue: errno) }
}

/// renameat(2).
///
/// - Parameter replaces: whether a file with the new name is replaced. If not, the error is `fileExists`; but a file system
///   that has neither such a rename nor links replaces it all the same.
package func rename(
  _ old: Path, in oldFolder: CInt, to new: Path, in newFolder: CInt, replaces: Bool = true
) throws(Errno) {
  if !replaces, try renameWithoutReplacing(old, in: oldFolder, to: new, in: newFolder) { return }
  let result = old.withCString { old in new.withCString { renameat(oldFolder, old, newFolder, $0) } }
  if result != 0 { throw Errno(rawValue: errno) }
}

/// - Returns: false if the file system cannot do that.
private func renameWithoutReplacing(
  _ old: Path, in oldFolder: CInt, to new: Path, in newFolder: CInt
) throws(Errno) -> Bool {
  #if os(Linux)
  let renamed = old.withCString { old in
    new.withCString { renameat2(oldFolder, old, newFolder, $0, rename_without_replacing) }
  }
  if renamed == 0 { return true }
  let refusal = Errno(rawValue: errno)
  guard [.invalidArgument, .noFunction, .notSupported].contains(refusal) else { throw refusal }
  #endif
  let linked = old.withCString { old in new.withCString { linkat(oldFolder, old, newFolder, $0, 0) } }
  let error = Errno(rawValue: errno)
  if linked == 0 {
    unlink(old, in: oldFolder)
    return true
  }
  switch error {
  case .notPermitted, .noFunction, .notSupported, .tooManyLinks: return false
  default: throw error
  }
}

/// Removes a file; does nothing if it does not exist or cannot be removed.
package func unlink(_ path: Path, in folder: CInt) {
  _ = path.withCString { unlinkat(folder, $0, 0) }
}

/// Makes a folder and its parents. It starts with the deepest, so that an existing folder needs no calls for its parents.
///
/// - Parameters:
///   - folder: the open folder that a relative path starts from, or `AT_FDCWD`.
///   - mode: the access rights of new folders, of which the umask takes away.
package func makeFolder(_ path: Path, in folder: CInt, mode: mode_t = 0o777) throws(Errno) {
  func make() -> Errno? { path.withCString { mkdirat(folder, $0, mode) == 0 ? nil : Errno(rawValue: errno) } }
  if path.isEmpty { return }
  var result = make()
  if result == .noSuchFileOrDirectory, !path.parent.isEmpty, path.parent != path {
    try makeFolder(path.parent, in: folder, mode: mode)
    // It tries only once more, because the parent may exist and still not accept folders.
    result = make()
  }
  guard let error = result else { return }
  // No error matters if the folder exists: the path may be a link to a folder, or another run has just made it.
  let status = path.withCString { FileStatus.of($0, in: folder, followingLinks: true) }
  switch status {
  case .success(let status) where status.kind == .folder: return
  // A link that leads nowhere is there, but not for those who follow it.
  case .failure(.noSuchFileOrDirectory) where error == .fileExists: throw .noSuchFileOrDirectory
  case .failure(let other) where error == .fileExists: throw other
  default: throw error
  }
}
