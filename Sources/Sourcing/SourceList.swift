import Fetching
import Files
import Foundation

/// A list of the paths of sources. It is read piece by piece and never held as a whole.
package struct SourceList: Sendable, Hashable {
  /// The byte that ends an entry.
  package enum Separator: UInt8, Sendable {
    case newline = 0x0a
    /// The only separator that allows names with a newline.
    case nul = 0
  }

  private enum Location: Sendable, Hashable {
    case file(Path)
    case descriptor(CInt)
  }

  /// The name of the list in messages.
  package let name: Path
  private let location: Location
  package let separator: Separator
  /// The folder whose tree the thumbnails of the entries mirror, as a list of a split knows it; nil if
  /// ``relativePath(of:)`` decides.
  package let tree: Path?

  /// A list in a file, which is opened for each walk.
  package init(file: Path, separator: Separator) { self.init(file: file, separator: separator, tree: nil) }

  package init(file: Path, separator: Separator, tree: Path?) {
    (name, location, self.separator, self.tree) = (file, .file(file), separator, tree)
  }

  /// A list that is read from an open file descriptor. The descriptor is not closed.
  package init(descriptor: CInt, name: Path, separator: Separator) {
    (self.name, location, self.separator, tree) = (name, .descriptor(descriptor), separator, nil)
  }

  /// The file; nil if an open descriptor is read.
  package var file: Path? { if case .file(let file) = location { file } else { nil } }

  /// Whether the list exists. An open descriptor does.
  package var exists: Bool {
    file.map { FileStatus.exists($0) } ?? true
  }

  /// Whether a second reading gives the same entries, because the list is a regular file.
  var canBeReadTwice: Bool {
    file.map { FileStatus.isRegular($0, followingLinks: true) } ?? false
  }

  /// The path that the thumbnails of an entry mirror: the entry itself if it is relative and stays within the working
  /// folder, otherwise its absolute path. Symbolic links are not resolved. Nil if the working folder no longer exists.
  package static func relativePath(of entry: Path) -> Path? {
    if !entry.isAbsolute, let within = entry.normalized { return within }
    return entry.absolute?.withoutRoot
  }

  /// Passes each entry to `body`, except empty ones. `shouldStop` ends the wait for a slow pipe and the reading of an
  /// endless list.
  func forEachEntry(shouldStop: () -> Bool, _ body: (Result<Path, SourceListError>) throws -> Void) rethrows {
    let descriptor: CInt
    switch location {
    case .descriptor(let open): descriptor = open
    case .file(let file):
      switch Result(catching: { () throws(Errno) in try openToRead(file) }) {
      case .success(let open): descriptor = open
      case .failure(let error): return try body(.failure(SourceListError(.cannotOpen(error), file)))
      }
    }
    defer { if case .file = location { close(descriptor) } }
    var entries = EntrySplitter(separator: separator.rawValue, maximumLength: Path.maximumLength)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !shouldStop() {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, 100) <= 0 { continue }
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        // After EINTR the loop calls shouldStop before it reads again, because the signal may be the reason to stop.
        if errno == EINTR || errno == EAGAIN { continue }
        return try body(.failure(SourceListError(.cannotRead(Errno(rawValue: errno)), name)))
      }
      if count == 0 { return try entries.finish { try body(Self.path(of: $0)) } }
      try entries.append(buffer[..<count]) { try body(Self.path(of: $0)) }
    }
  }

  private static func path(of entry: [UInt8]) -> Result<Path, SourceListError> {
    if entry.count > Path.maximumLength {
      let beginning = Path(bytes: entry.prefix(60).filter { $0 != 0 }) ?? ""
      // The beginning of a URL may have a password.
      let shown = beginning.isURL ? Path(String(RemoteAddress.printable(entry).prefix(60))) : beginning
      return .failure(SourceListError(.entryTooLong, shown))
    }
    if let path = Path(bytes: entry) { return .success(path) }
    return .failure(SourceListError(.entryWithNul, Path(bytes: entry.prefix { $0 != 0 }) ?? ""))
  }
}

/// A list, or one entry of it, cannot be read.
package struct SourceListError: Error {
  package enum Kind {
    case cannotOpen(Errno)
    case cannotRead(Errno)
    case entryTooLong
    case entryWithNul
  }

  package let kind: Kind
  /// The list, or the beginning of the entry.
  package let path: Path

  init(_ kind: Kind, _ path: Path) { (self.kind, self.path) = (kind, path) }
}
