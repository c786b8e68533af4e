import Files
import Foundation
import ThumbnailJobs

/// The folder of a comparison's results, and within it a temporary one for all that is not kept.
///
/// The results are opened before anything is measured, so that it fails early, and put in place when all is done: an
/// earlier comparison's stay until then.
final class CompareFolder: Sendable {
  /// How the temporary folder's name begins. Only one that is called so is ever removed.
  static let prefix = ".thumbjob-compare-"

  struct Problem: Error {
    let text: String
    let isOutOfRoom: Bool

    /// - Parameter what: what cannot be done with the path, as in “write in”.
    init(_ what: String, _ path: Path, _ number: CInt = errno) {
      text = "cannot \(what) \(path.printable): \(String(cString: strerror(number)))"
      isOutOfRoom = number == ENOSPC || number == EDQUOT
    }
  }

  enum Result: String, CaseIterable {
    case page = "compare.html"
    case samples = "compare.json"

    var name: Path { Path(rawValue) }
  }

  let path: Path
  /// The temporary folder.
  let working: Path
  /// The list of sources: a file without a name.
  let list: CInt
  /// Held for as long as this process lives, however it ends: what tells its temporary folder from a dead one's.
  private let lock: CInt
  /// The folders that were made for the results, from the top down.
  private let made: [Path]

  /// - Throws: `Problem`; nothing is left behind.
  init(_ path: Path) throws(Problem) {
    self.path = path
    var made: [Path] = []
    do throws(Problem) {
      try Self.makeFolder(path, &made)
      (working, lock) = try Self.makeWorking(in: path)
    } catch {
      Self.removeEmpty(made)
      throw error
    }
    self.made = made
    do throws(Problem) {
      list = try Self.prepare(working, for: path)
    } catch {
      close(lock)
      Self.remove(working)
      Self.removeEmpty(made)
      throw error
    }
  }

  deinit {
    close(list)
    close(lock)
  }

  /// Puts a result in place.
  func publish(_ result: Result, _ text: String) throws(Problem) {
    let (temporary, place) = (working.appending(result.name), path.appending(result.name))
    let file = temporary.withCString { open($0, O_WRONLY | O_TRUNC | O_CLOEXEC) }
    guard file >= 0 else { throw Problem("write", place) }
    defer { close(file) }
    if let error = StandardStream.write(text, to: file) { throw Problem("write", place, error) }
    let isInPlace = temporary.withCString { old in place.withCString { rename(old, $0) == 0 } }
    if !isInPlace { throw Problem("write", place) }
  }

  /// Removes the temporary folder, and what was made for results that have not come.
  func clear() {
    Self.remove(working)
    Self.removeEmpty(made)
  }

  /// Removes a temporary folder, while somebody may still be writing in it. Does nothing to any other.
  static func remove(_ working: Path) {
    guard working.lastName.bytes.starts(with: prefix.utf8) else { return }
    for _ in 0..<100 {
      OpenFolder.remove(working)
      if working.withCString({ access($0, F_OK) }) != 0 { return }
      usleep(10_000)
    }
  }

  // MARK: Making

  /// A temporary folder and its lock. One comparison at a time: a folder that is made and not yet locked looks like that
  /// of a dead one.
  private static func makeWorking(in path: Path) throws(Problem) -> (Path, CInt) {
    let folder = path.isEmpty ? Path(".") : path
    let whole = folder.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard whole >= 0 else { throw Problem("open", folder) }
    // With the lock.
    defer { close(whole) }
    if let error = Self.lock(whole, tries: 1000) { throw Problem("lock", folder, error) }
    sweepDead(in: folder)
    var template = Array(folder.appending(Path("\(prefix)XXXXXX")).bytes) + [0]
    let isMade = template.withUnsafeMutableBytes { mkdtemp($0.assumingMemoryBound(to: CChar.self).baseAddress!) != nil }
    guard isMade, let working = Path(bytes: template.dropLast()) else { throw Problem("write in", folder) }
    let lock = working.withCString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    let error = lock < 0 ? errno : Self.lock(lock, tries: 1)
    guard let error else { return (working, lock) }
    if lock >= 0 { close(lock) }
    remove(working)
    throw Problem("lock", working, error)
  }

  /// Makes room for the results and the list.
  ///
  /// - Returns: the list.
  private static func prepare(_ working: Path, for path: Path) throws(Problem) -> CInt {
    for result in Result.allCases {
      var status = stat()
      let place = path.appending(result.name)
      if place.withCString({ stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR {
        throw Problem("write", place, EISDIR)
      }
      close(try create(working.appending(result.name)))
    }
    let name = working.appending("list")
    let list = try create(name)
    _ = name.withCString { unlink($0) }
    return list
  }

  /// Removes the temporary folders of comparisons that were killed before they had a process that does it.
  private static func sweepDead(in folder: Path) {
    for name in OpenFolder.names(in: folder) where name.bytes.starts(with: prefix.utf8) {
      let found = folder.appending(name)
      let descriptor = found.withCString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
      guard descriptor >= 0 else { continue }
      if lock(descriptor, tries: 1) == nil { remove(found) }
      close(descriptor)
    }
  }

  /// - Returns: the error number; nil where the lock is held until the descriptor is closed.
  private static func lock(_ descriptor: CInt, tries: Int) -> CInt? {
    var error: CInt = 0
    for trial in 1...tries {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return nil }
      error = errno
      if error != EWOULDBLOCK && error != EINTR { return error }
      if trial < tries { usleep(10_000) }
    }
    return error
  }

  private static func create(_ path: Path) throws(Problem) -> CInt {
    let file = path.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    guard file >= 0 else { throw Problem("write", path) }
    return file
  }

  /// - Parameter made: gets the folders that were not there before.
  private static func makeFolder(_ path: Path, _ made: inout [Path]) throws(Problem) {
    if path.isEmpty { return }
    var status = stat()
    if path.withCString({ stat($0, &status) }) == 0 {
      if status.st_mode & S_IFMT != S_IFDIR { throw Problem("write in", path, ENOTDIR) }
      return
    }
    if path.parent != path { try makeFolder(path.parent, &made) }
    if path.withCString({ mkdir($0, 0o777) }) == 0 {
      made.append(path)
    } else if errno != EEXIST {
      throw Problem("make", path)
    }
  }

  private static func removeEmpty(_ made: [Path]) {
    for folder in made.reversed() { _ = folder.withCString { rmdir($0) } }
  }
}
