import Foundation
import SystemPackage

/// A folder held open while its entries are read, a few at a time. Closed when the last reference goes.
package final class OpenFolder {
  /// A name in the folder; `kind` is nil where the file system does not say without a further question.
  package struct Entry {
    package let name: Path
    package let kind: stat.Kind?
  }

  /// As it was opened, or the path of the folder above with its name.
  package let path: Path
  /// From the source folder, what is mirrored.
  package let relativePath: Path
  package let identity: FileIdentity
  private let stream: DirectoryStream

  #if os(Linux)
    private typealias DirectoryStream = OpaquePointer
  #else
    private typealias DirectoryStream = UnsafeMutablePointer<DIR>
  #endif

  private init(path: Path, relativePath: Path, identity: FileIdentity, stream: DirectoryStream) {
    self.path = path
    self.relativePath = relativePath
    self.identity = identity
    self.stream = stream
  }

  deinit { closedir(stream) }

  /// Opens a folder.
  ///
  /// - Parameter folder: what a relative `path` starts from: an open folder or the working folder.
  package static func open(
    _ path: Path, in folder: CInt = AT_FDCWD, relativePath: Path = Path()
  ) -> Result<OpenFolder, Errno> {
    path.withCString { pointer in
      open(pointer, in: folder, flags: 0, path: path, relativePath: relativePath)
    }
  }

  /// Opens a folder in this one by its name alone, so that renaming a folder above cannot lead the walk elsewhere.
  package func openFolder(_ name: Path, followingLinks: Bool) -> Result<OpenFolder, Errno> {
    name.withCString { pointer in
      Self.open(
        pointer, in: dirfd(stream), flags: followingLinks ? 0 : O_NOFOLLOW, path: path.appending(name),
        relativePath: relativePath.appending(name))
    }
  }

  private static func open(
    _ name: UnsafePointer<CChar>, in folder: CInt, flags: CInt, path: Path, relativePath: Path
  ) -> Result<OpenFolder, Errno> {
    let descriptor = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { return .failure(Errno(rawValue: errno)) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, let stream = fdopendir(descriptor) else {
      let error = Errno(rawValue: errno)
      close(descriptor)
      return .failure(error)
    }
    return .success(
      OpenFolder(path: path, relativePath: relativePath, identity: FileIdentity(status), stream: stream))
  }

  /// The status of an entry.
  package func status(of name: Path, followingLinks: Bool) -> Result<stat, Errno> {
    name.withCString { FileStatus.of($0, in: dirfd(stream), followingLinks: followingLinks) }
  }

  /// The next entry but `.` and `..`; nil at the end.
  package func next() -> Result<Entry?, Errno> {
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        return errno == 0 ? .success(nil) : .failure(Errno(rawValue: errno))
      }
      let offset = MemoryLayout<dirent>.offset(of: \.d_name)!
      let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
      if isDots(name) { continue }
      return .success(Entry(name: Path(name: name), kind: Self.kind(entry.pointee.d_type)))
    }
  }

  /// The names from here to the end, or to the first that cannot be read.
  func names() -> [Path] {
    var names: [Path] = []
    while case .success(let entry?) = next() { names.append(entry.name) }
    return names
  }

  /// Removes a file, or a folder with all below it, never through a link. What cannot be removed stays, with what it is in.
  package static func remove(_ path: Path) {
    guard case .success(let folder) = open(path.parent.isEmpty ? "." : path.parent) else { return }
    folder.remove(path.lastName)
  }

  /// Removes an entry of this folder, with all below it.
  func remove(_ name: Path) {
    if name.withCString({ unlinkat(dirfd(stream), $0, 0) }) == 0 { return }
    guard case .success(let below) = openFolder(name, followingLinks: false) else { return }
    while case .success(let entry?) = below.next() { below.remove(entry.name) }
    _ = name.withCString { unlinkat(dirfd(stream), $0, AT_REMOVEDIR) }
  }

  private static func kind(_ type: UInt8) -> stat.Kind? {
    switch Int(type) {
    case Int(DT_REG): .regular
    case Int(DT_DIR): .folder
    case Int(DT_LNK): .link
    case Int(DT_UNKNOWN): nil
    default: .special
    }
  }
}

/// True for `.` and `..`.
private func isDots(_ name: UnsafePointer<CChar>) -> Bool {
  name[0] == 0x2e && (name[1] == 0 || (name[1] == 0x2e && name[2] == 0))
}
