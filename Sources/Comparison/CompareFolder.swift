import Files
import Foundation

/// The folder of a comparison's results, and within it a temporary one for all that is not kept.
///
/// The results are opened before anything is measured, so that it fails early, and put in place when all is done: an
/// earlier comparison's stay until then.
public final class CompareFolder: Sendable {
  /// Of the temporary folder. A process that is being ended may still write for a moment, so removing has a second.
  private static let kind = LockedFolder.Kind(
    prefix: ".thumbjob-compare-", permissions: 0o700, passes: 100, pause: 10_000)

  public struct Problem: Error {
    public let text: String
    public let isOutOfRoom: Bool

    /// - Parameter what: what cannot be done with the path, as in “write in”.
    init(_ what: String, _ path: Path, _ number: CInt = errno) {
      text = "cannot \(what) \(path.printable): \(String(cString: strerror(number)))"
      isOutOfRoom = number == ENOSPC || number == EDQUOT
    }
  }

  public enum Result: String, CaseIterable {
    case page = "compare.html"
    case samples = "compare.json"

    public var name: Path { Path(rawValue) }
  }

  public let path: Path
  /// The temporary folder's path.
  public let working: Path
  /// The list of sources: a file without a name.
  public let list: CInt
  private let temporary: LockedFolder
  /// The folders that were made for the results, from the top down.
  private let made: [Path]

  /// - Throws: `Problem`; nothing is left behind.
  public init(_ path: Path) throws(Problem) {
    self.path = path
    var made: [Path] = []
    do throws(Problem) {
      try Self.makeFolder(path, &made)
      temporary = try Self.makeTemporary(in: path)
    } catch {
      Self.removeEmpty(made)
      throw error
    }
    working = Self.named(path).appending(temporary.name)
    self.made = made
    do throws(Problem) {
      list = try Self.prepare(working, for: path)
    } catch {
      temporary.remove()
      Self.removeEmpty(made)
      throw error
    }
  }

  deinit { close(list) }

  /// Puts a result in place.
  public func publish(_ result: Result, _ text: String) throws(Problem) {
    let (temporary, place) = (working.appending(result.name), path.appending(result.name))
    let file = temporary.withCString { open($0, O_WRONLY | O_TRUNC | O_CLOEXEC) }
    guard file >= 0 else { throw Problem("write", place) }
    defer { close(file) }
    do { try writeAll(text.utf8, to: file) } catch { throw Problem("write", place, error.rawValue) }
    let isInPlace = temporary.withCString { old in place.withCString { rename(old, $0) == 0 } }
    if !isInPlace { throw Problem("write", place) }
  }

  /// Removes the temporary folder, and what was made for results that have not come.
  public func clear() {
    temporary.remove()
    Self.removeEmpty(made)
  }

  /// Removes the temporary folder of a process that has died. Does nothing to a folder that is not called like one.
  public static func remove(_ working: Path) {
    guard let parent = try? openFolder(named(working.parent), in: AT_FDCWD) else { return }
    defer { close(parent) }
    LockedFolder.remove(working.lastName, in: parent, kind)
  }

  // MARK: Making

  private static func makeTemporary(in path: Path) throws(Problem) -> LockedFolder {
    let folder = named(path)
    let parent = folder.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard parent >= 0 else { throw Problem("open", folder) }
    defer { close(parent) }
    do throws(LockedFolderError) {
      return try LockedFolder(in: parent, kind)
    } catch {
      switch error {
      case .cannotLockParent(let error): throw Problem("lock", folder, error.rawValue)
      case .cannotMake(let error): throw Problem("write in", folder, error.rawValue)
      case .cannotLock(let name, let error): throw Problem("lock", folder.appending(name), error.rawValue)
      }
    }
  }

  /// The empty path is the working folder, which system calls want to have named.
  private static func named(_ path: Path) -> Path { path.isEmpty ? "." : path }

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
