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

    init(_ path: String, _ number: CInt = errno) {
      text = "cannot write in \(path): \(String(cString: strerror(number)))"
      isOutOfRoom = number == ENOSPC || number == EDQUOT
    }
  }

  enum Result: String, CaseIterable {
    case page = "compare.html"
    case samples = "compare.json"
  }

  let path: Path
  /// The temporary folder.
  let working: String
  /// The list of sources: a file without a name.
  let list: CInt
  /// Held for as long as this process lives, however it ends: what tells its temporary folder from a dead one's.
  private let lock: CInt

  /// - Throws: `Problem`.
  init(_ path: Path) throws(Problem) {
    self.path = path
    let folder = path.withCString { String(cString: $0) }
    if let problem = Self.makeFolder(path) { throw Problem(path.printable, problem) }
    Self.sweepDead(in: folder)
    var template = Array("\(folder)/\(Self.prefix)XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Problem(path.printable) }
    working = String(cString: made)
    guard let lock = Self.lock(working) else { throw Problem(path.printable) }
    self.lock = lock
    do throws(Problem) {
      for result in Result.allCases {
        var status = stat()
        let name = "\(folder)/\(result.rawValue)"
        if stat(name, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { throw Problem(name, EISDIR) }
        close(try Self.create("\(working)/\(result.rawValue)"))
      }
      list = try Self.create("\(working)/list")
      unlink("\(working)/list")
    } catch {
      Self.remove(working)
      throw error
    }
  }

  deinit {
    close(list)
    close(lock)
  }

  /// Puts a result in place.
  func publish(_ result: Result, _ text: String) throws(Problem) {
    let (temporary, place) = ("\(working)/\(result.rawValue)", path.appending(Path(result.rawValue)))
    let file = open(temporary, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard file >= 0 else { throw Problem(place.printable) }
    defer { close(file) }
    if let error = StandardStream.write(text, to: file) { throw Problem(place.printable, error) }
    guard place.withCString({ rename(temporary, $0) }) == 0 else { throw Problem(place.printable) }
  }

  /// Removes the temporary folder.
  func clear() { Self.remove(working) }

  /// Removes a temporary folder, while somebody may still be writing in it. Does nothing to any other.
  static func remove(_ working: String) {
    guard working.split(separator: "/").last?.hasPrefix(prefix) == true else { return }
    for _ in 0..<100 {
      try? FileManager.default.removeItem(atPath: working)
      if access(working, F_OK) != 0 { return }
      usleep(10_000)
    }
  }

  /// Removes the temporary folders of comparisons that were killed before they had a process that does it.
  private static func sweepDead(in folder: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let lock = lock("\(folder)/\(name)") else { continue }
      remove("\(folder)/\(name)")
      close(lock)
    }
  }

  /// Nil where another process has it.
  private static func lock(_ folder: String) -> CInt? {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private static func create(_ path: String) throws(Problem) -> CInt {
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw Problem(path) }
    return file
  }

  /// - Returns: the error number where the folder is not there afterwards.
  private static func makeFolder(_ path: Path) -> CInt? {
    if path.isEmpty { return nil }
    if path.withCString({ mkdir($0, 0o777) }) == 0 { return nil }
    let error = errno
    if error == ENOENT, !path.parent.isEmpty, path.parent != path {
      if let problem = makeFolder(path.parent) { return problem }
      return path.withCString { mkdir($0, 0o777) } == 0 ? nil : errno
    }
    var status = stat()
    let isFolder = path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    return isFolder ? nil : error == EEXIST ? ENOTDIR : error
  }
}
