import Files
import Foundation
import SystemPackage

/// A list of paths to make thumbnails of: `-` or `--files0-from`. It is read as it comes, never as a whole.
public struct SourceList: Sendable, Hashable {
  /// What ends an entry.
  public enum Separator: UInt8, Sendable {
    case newline = 0x0a
    /// `--files0-from`: the only one that lets a name hold a newline.
    case nul = 0
  }

  /// A list, or one entry of it, that cannot be read.
  struct Problem: Error {
    let path: Path
    let reason: String
    let isEntry: Bool
    /// There is no such list.
    var isMissing = false
  }

  /// Nil is standard input.
  public let file: Path?
  public let separator: Separator

  public init(from file: Path?, separator: Separator) {
    self.file = file
    self.separator = separator
  }

  /// True when the list is a regular file.
  var canBeReadTwice: Bool {
    guard let file, let status = try? FileStatus.of(file, followingLinks: true).get() else { return false }
    return status.kind == .regular
  }

  /// Where an entry is mirrored: as given when relative; by its absolute path when absolute or when `..` leaves the
  /// working folder. By the text alone: links are not resolved. Nil when there is no working folder any more.
  func relativePath(of entry: Path) -> Path? {
    if !entry.isAbsolute, let within = entry.normalized { return within }
    guard let folder = getcwd(nil, 0) else { return nil }
    defer { free(folder) }
    return Path(cString: folder).appending(entry).normalized?.withoutRoot
  }

  /// Reads entry after entry; empty ones are skipped. `shouldStop` cuts short both waiting for a slow pipe and reading a
  /// source that never ends.
  func forEachEntry(shouldStop: () -> Bool, _ body: (Result<Path, Problem>) throws -> Void) rethrows {
    let name = file ?? "standard input"
    var descriptor: CInt = STDIN_FILENO
    if let file {
      // Not blocking: a FIFO that nobody writes to must not hold the run before it can be stopped.
      descriptor = file.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
      if descriptor < 0 {
        let error = Errno(rawValue: errno)
        let isMissing = error == .noSuchFileOrDirectory || error == .notDirectory
        return try body(
          .failure(Problem(path: name, reason: error.description, isEntry: false, isMissing: isMissing)))
      }
    }
    defer { if file != nil { close(descriptor) } }
    var entries = EntrySplitter(separator: separator)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !shouldStop() {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, 100) <= 0 { continue }
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        // EINTR is not repeated at once: a signal may be the reason to stop.
        if errno == EINTR || errno == EAGAIN { continue }
        return try body(
          .failure(Problem(path: name, reason: Errno(rawValue: errno).description, isEntry: false)))
      }
      if count == 0 { return try entries.finish(body) }
      try entries.take(buffer[..<count], body)
    }
  }
}

/// Cuts bytes into entries. Memory is bounded by the longest path there can be, whatever comes.
private struct EntrySplitter {
  let separator: SourceList.Separator
  private var pending: [UInt8] = []

  init(separator: SourceList.Separator) {
    self.separator = separator
  }

  mutating func take(
    _ bytes: ArraySlice<UInt8>, _ body: (Result<Path, SourceList.Problem>) throws -> Void
  ) rethrows {
    var rest = bytes
    while let end = rest.firstIndex(of: separator.rawValue) {
      keep(rest[..<end])
      rest = rest[(end + 1)...]
      try finish(body)
    }
    keep(rest)
  }

  /// Keeps one byte more than a path may have, enough to know that it is too long.
  private mutating func keep(_ bytes: ArraySlice<UInt8>) {
    pending += bytes.prefix(SourceWalker.maximumPathLength + 1 - pending.count)
  }

  mutating func finish(_ body: (Result<Path, SourceList.Problem>) throws -> Void) rethrows {
    if pending.isEmpty { return }
    let entry = pending
    pending.removeAll(keepingCapacity: true)
    if entry.count > SourceWalker.maximumPathLength {
      let start = Path(bytes: entry.prefix(60).filter { $0 != 0 }) ?? ""
      let reason = "starts an entry longer than the \(SourceWalker.maximumPathLength) bytes a path may have"
      try body(.failure(.init(path: start, reason: reason, isEntry: true)))
    } else if let path = Path(bytes: entry) {
      try body(.success(path))
    } else {
      let start = Path(bytes: entry.prefix { $0 != 0 }) ?? ""
      let reason = "starts a line with a NUL in it; give NUL-separated lists with --files0-from -"
      try body(.failure(.init(path: start, reason: reason, isEntry: true)))
    }
  }
}
