import Files
import Foundation
import JobSettings
import Places
import SystemPackage

/// A file that a join writes. It appears whole or not at all. A file with the same contents stays untouched.
///
/// *Concurrency*: one thread at a time may use it.
final class JoinFile {
  let path: Path
  /// What a file that is already there must be; nil for a file beside the page of a gallery.
  private let kind: JoinKind?
  private let isDurable: Bool
  private let folder: Descriptor
  /// The name in the folder. If the path is a link, the file that it leads to.
  private let name: Path
  /// Has no name until it is whole.
  private let contents: Descriptor
  /// Bytes that are not yet in the file.
  private var pending: [UInt8] = []

  private static let bufferSize = 1 << 16
  /// The name of a whole file for the moment before it replaces another.
  private static let temporary: Path = ".thumbjob.tmp"

  /// Checks that the file can be made, and makes missing folders above it.
  ///
  /// - Parameters:
  ///   - kind: what a file that is already there must be; nil for a file beside the page of a gallery.
  ///   - isDurable: whether to wait for the disk before the file is in place.
  /// - Throws: ``OutputError``: of kind `notJoin` if another file is there.
  init(_ path: Path, kind: JoinKind?, isDurable: Bool = false) throws(OutputError) {
    (self.path, self.kind, self.isDurable) = (path, kind, isDurable)
    do throws(Errno) {
      let isLink = (try? FileStatus.of(path, followingLinks: false).get())?.kind == .link
      let place = isLink ? try path.real() : path
      try makeFolder(place.parent, in: AT_FDCWD)
      folder = Descriptor(try openFolder(place.parent.isEmpty ? "." : place.parent, in: AT_FDCWD))
      name = place.lastName
      contents = Descriptor(try createUnnamedFile(in: folder.number))
    } catch {
      throw OutputError(writing: path, error)
    }
    try check()
  }

  /// Refuses to replace a file that thumbjob has not made.
  private func check() throws(OutputError) {
    guard let kind else { return }
    switch name.withCString({ FileStatus.of($0, in: folder.number, followingLinks: false) }) {
    case .failure(.noSuchFileOrDirectory): return
    case .failure(let error): throw OutputError(writing: path, error)
    case .success(let status) where status.kind == .folder: throw OutputError(writing: path, .isDirectory)
    case .success(let status):
      if status.kind == .regular, status.st_size == 0 { return }
      guard status.kind == .regular else { throw OutputError(.notJoin(kind), path) }
      let beginning: [UInt8]
      do throws(Errno) {
        beginning = try readBeginning(of: name, in: folder.number, limit: kind.headSize)
      } catch {
        throw OutputError(.unreadable, path, error)
      }
      if !kind.isBeginning(beginning) { throw OutputError(.notJoin(kind), path) }
    }
  }

  /// Whether there is a file with other contents than these.
  func isOther(than contents: [UInt8]) -> Bool {
    guard let there = readFile(name, in: folder.number, limit: contents.count + 1) else { return false }
    return there != contents
  }

  /// The descriptor, for a writer that needs no buffer.
  var descriptor: CInt { contents.number }

  /// Appends bytes.
  ///
  /// - Throws: ``OutputError``.
  func append(_ bytes: some Collection<UInt8>) throws(OutputError) {
    pending += bytes
    if pending.count >= Self.bufferSize { try flush() }
  }

  private func flush() throws(OutputError) {
    do throws(Errno) { try writeAll(pending, to: contents.number) } catch { throw OutputError(writing: path, error) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Puts the file in its place.
  ///
  /// - Returns: false if an equal file was there, which stays.
  /// - Throws: ``OutputError``. The file that was there stays.
  func publish() throws(OutputError) -> Bool {
    try flush()
    try check()
    do throws(Errno) {
      unlink(Self.temporary, in: folder.number)
      if isUnchanged() { return false }
      if isDurable { try syncToDisk(contents.number) }
      do throws(Errno) { try link(name) } catch {
        guard error == .fileExists else { throw error }
        try replace()
      }
      // Some network file systems cannot do this for folders, and do not need it.
      if isDurable { do throws(Errno) { try syncToDisk(folder.number) } catch  where error == .invalidArgument {} }
      return true
    } catch {
      throw OutputError(writing: path, error)
    }
  }

  /// Replaces the file that is there. A temporary file with the same name is of a run that was killed, or that is doing the
  /// same at this moment. Removing it makes the other try again, so each tries often.
  private func replace() throws(Errno) {
    for attempt in 1... {
      unlink(Self.temporary, in: folder.number)
      do throws(Errno) {
        try link(Self.temporary)
        return try rename(Self.temporary, in: folder.number, to: name, in: folder.number)
      } catch {
        let isOfOther = error == .fileExists || error == .noSuchFileOrDirectory
        if attempt == 1000 || !isOfOther {
          unlink(Self.temporary, in: folder.number)
          throw error
        }
      }
    }
  }

  /// Gives the file a name that no other has. Where that is not possible, it copies the file.
  private func link(_ name: Path) throws(Errno) {
    let own = "/proc/self/fd/\(contents.number)"
    if name.withCString({ linkat(AT_FDCWD, own, folder.number, $0, AT_SYMLINK_FOLLOW) }) == 0 { return }
    if errno == EEXIST { throw .fileExists }
    // Under its own name, an unfinished copy would be seen.
    if name != Self.temporary { throw .fileExists }
    let copy = try createFile(name, in: folder.number, flags: O_WRONLY | O_EXCL)
    var failure: Errno?
    do throws(Errno) {
      try forEachChunk(of: contents.number) { chunk, _ throws(Errno) in
        try writeAll(chunk, to: copy)
        return true
      }
      if isDurable { try syncToDisk(copy) }
    } catch {
      failure = error
    }
    // A network file system may report only now that it has no room. On Linux an interrupted call has closed the file.
    if close(copy) != 0 && errno != EINTR && failure == nil { failure = Errno(rawValue: errno) }
    if let failure { throw failure }
  }

  /// Whether the file that is there has the same contents. One that cannot be read is replaced.
  private func isUnchanged() -> Bool {
    guard let there = try? openToRead(name, in: folder.number) else { return false }
    defer { close(there) }
    guard size(of: there) == size(of: contents.number) else { return false }
    let isSame = try? forEachChunk(of: contents.number) { chunk, offset throws(Errno) in
      try readAll(chunk.count, from: there, at: offset) == chunk
    }
    return isSame == true
  }

  private func size(of file: CInt) -> Int? {
    var status = stat()
    return fstat(file, &status) == 0 ? Int(status.st_size) : nil
  }

  /// - Parameter body: receives some bytes and their offset; false ends the loop.
  /// - Returns: false if `body` has ended the loop.
  @discardableResult
  private func forEachChunk(
    of file: CInt, _ body: ([UInt8], Int) throws(Errno) -> Bool
  ) throws(Errno) -> Bool {
    var offset = 0
    while case let chunk = try readAll(Self.bufferSize, from: file, at: offset), !chunk.isEmpty {
      if try !body(chunk, offset) { return false }
      offset += chunk.count
    }
    return true
  }
}

extension JoinKind {
  /// The most bytes that ``isBeginning(_:)`` needs.
  fileprivate var headSize: Int { self == .checksums ? ChecksumLine.headSize : signature.count }

  /// Whether a file that begins with these bytes is of this kind, so that thumbjob may replace it.
  fileprivate func isBeginning(_ bytes: [UInt8]) -> Bool {
    self == .checksums ? ChecksumLine.isBeginning(bytes) : bytes == signature
  }
}
