import Files
import Foundation
import TestSupport

/// A temporary folder for the files of a test. It is removed with its contents when the object is released.
final class FileTree: Sendable {
  let root: Path

  private let temporary = TemporaryFolder()

  init() { root = Path(temporary.path) }

  deinit { removeTree(root) }

  func path(_ relative: Path) -> Path { root.appending(relative) }

  @discardableResult
  func folder(_ relative: Path) throws -> Path {
    var path = root
    for name in relative.names {
      path = path.appending(name)
      try check(path.withCString { mkdir($0, 0o777) }, allowing: EEXIST)
    }
    return path
  }

  /// Writes a file, and makes the folders above it.
  @discardableResult
  func file(_ relative: Path, _ contents: String = "x") throws -> Path {
    try folder(relative.parent)
    let path = path(relative)
    let file = Descriptor(try openFile(path, in: AT_FDCWD, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644))
    try writeAll(contents.utf8, to: file.number)
    return path
  }

  func link(_ relative: Path, to target: Path) throws {
    try check(
      path(relative).withCString { name in target.withCString { symlink($0, name) } })
  }

  func fifo(_ relative: Path) throws {
    try check(path(relative).withCString { mkfifo($0, 0o644) })
  }

  func contents(_ relative: Path) throws -> String {
    let file = Descriptor(try openToRead(path(relative)))
    return String(decoding: try readAll(from: file.number), as: UTF8.self)
  }

  func exists(_ relative: Path) -> Bool {
    (try? FileStatus.of(path(relative), followingLinks: false).get()) != nil
  }

  func status(_ relative: Path) throws -> stat {
    try FileStatus.of(path(relative), followingLinks: false).get()
  }

  func setModified(_ relative: Path, _ time: timespec) throws {
    var times = [time, time]
    try check(path(relative).withCString { utimensat(AT_FDCWD, $0, &times, 0) })
  }

  /// The sorted paths of all regular files below `relative`, from there.
  func files(below relative: Path = "") throws -> [String] {
    let top = path(relative).description
    guard let names = FileManager.default.enumerator(atPath: top) else { return [] }
    return names.compactMap { $0 as? String }.filter { name in
      (try? FileStatus.of(Path(top + "/" + name), followingLinks: false).get().kind) == .regular
    }.sorted()
  }

  private func check(_ result: CInt, allowing allowed: CInt = 0) throws {
    if result != 0 && errno != allowed { throw Errno(rawValue: errno) }
  }
}

/// Removes a folder with its contents, however deep. It works name by name, because a path may be too long for the
/// system.
private func removeTree(_ path: Path) {
  guard case .success(let folder) = OpenFolder.open(path) else { return }
  empty(folder, path.withCString { open($0, O_RDONLY | O_DIRECTORY) })
  _ = path.withCString { rmdir($0) }
}

private func empty(_ folder: OpenFolder, _ descriptor: CInt) {
  defer { close(descriptor) }
  while case .success(let entry?) = folder.next() {
    if entry.kind == .folder, case .success(let inner) = folder.openFolder(entry.name, followingLinks: false) {
      empty(inner, entry.name.withCString { openat(descriptor, $0, O_RDONLY | O_DIRECTORY) })
      _ = entry.name.withCString { unlinkat(descriptor, $0, AT_REMOVEDIR) }
    } else {
      _ = entry.name.withCString { unlinkat(descriptor, $0, 0) }
    }
  }
}
