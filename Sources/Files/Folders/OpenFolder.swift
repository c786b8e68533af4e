import Foundation

/// An open folder whose entries are read one after the other. Closed when the last reference is released.
package final class OpenFolder {
  /// An entry of the folder.
  package struct Entry {
    package let name: Path
    /// Nil if the file system does not store it in the folder; ``OpenFolder/status(of:followingLinks:)`` tells it then.
    package let kind: stat.Kind?
  }

  /// The path that it was opened with, or the path of the folder above followed by its name.
  package let path: Path
  /// The path from the folder where a walk began.
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
  /// - Parameter folder: the open folder that a relative path starts from, or `AT_FDCWD`.
  package static func open(
    _ path: Path, in folder: CInt = AT_FDCWD, relativePath: Path = Path()
  ) -> Result<OpenFolder, Errno> {
    path.withCString { pointer in
      open(pointer, in: folder, flags: 0, path: path, relativePath: relativePath)
    }
  }

  /// Opens a folder in this one. Only its name is resolved, so renaming a folder above cannot lead a walk elsewhere.
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
    let descriptor = retryOnInterrupt { openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags) }
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

  /// The next entry, without `.` and `..`; nil at the end.
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

  /// The remaining names, up to the first that cannot be read.
  func names() -> [Path] {
    var names: [Path] = []
    while case .success(let entry?) = next() { names.append(entry.name) }
    return names
  }

  /// Removes a file, or a folder with its contents, without following links. Files that cannot be removed stay, and so
  /// do their folders.
  package static func remove(_ path: Path) {
    guard case .success(let folder) = open(path.parent.isEmpty ? "." : path.parent) else { return }
    folder.remove(path.lastName)
  }

  /// Removes an entry of this folder, with its contents.
  ///
  /// - Returns: whether it is gone.
  @discardableResult
  func remove(_ name: Path) -> Bool {
    if name.withCString({ unlinkat(dirfd(stream), $0, 0) }) == 0 || errno == ENOENT { return true }
    guard case .success(let below) = openFolder(name, followingLinks: false) else { return false }
    while case .success(let entry?) = below.next() { below.remove(entry.name) }
    return name.withCString { unlinkat(dirfd(stream), $0, AT_REMOVEDIR) } == 0
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

/// Whether the name is `.` or `..`.
private func isDots(_ name: UnsafePointer<CChar>) -> Bool {
  name[0] == 0x2e && (name[1] == 0 || (name[1] == 0x2e && name[2] == 0))
}
