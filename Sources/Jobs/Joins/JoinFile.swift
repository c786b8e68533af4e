import Files
import Foundation
import JobSettings
import Places

/// A file that a join writes. It appears whole or not at all. A file with the same contents stays untouched.
///
/// *Concurrency*: one thread at a time may use it.
final class JoinFile {
  let path: Path
  /// What a file that is already there must be; nil for a file beside the page of a gallery.
  private let kind: JoinKind?
  private let folder: Descriptor
  /// The name in the folder. If the path is a link, the file that it leads to.
  private let name: Path
  private let file: WholeFile
  /// Bytes that are not yet in the file.
  private var pending: [UInt8] = []

  private static let bufferSize = 1 << 16
  /// The name of a whole file for the moment before it replaces another.
  static let temporary: Path = ".thumbjob.tmp"

  /// Checks that the file can be made, and makes missing folders above it.
  ///
  /// - Parameters:
  ///   - kind: what a file that is already there must be; nil for a file beside the page of a gallery.
  ///   - isDurable: whether to wait for the disk before the file is in place.
  /// - Throws: ``OutputError``: of kind `notJoin` if another file is there.
  init(_ path: Path, kind: JoinKind?, isDurable: Bool = false) throws(OutputError) {
    (self.path, self.kind) = (path, kind)
    do throws(Errno) {
      let isLink = (try? FileStatus.of(path, followingLinks: false).get())?.kind == .link
      let place = isLink ? try path.real() : path
      try makeFolder(place.parent, in: AT_FDCWD)
      folder = Descriptor(try openFolder(place.parent.isEmpty ? "." : place.parent, in: AT_FDCWD))
      name = place.lastName
      file = try WholeFile(name, in: folder.number, temporary: Self.temporary, isDurable: isDurable)
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
  var descriptor: CInt { file.contents.number }

  /// Appends bytes.
  ///
  /// - Throws: ``OutputError``.
  func append(_ bytes: some Collection<UInt8>) throws(OutputError) {
    pending += bytes
    if pending.count >= Self.bufferSize { try flush() }
  }

  /// Writes what was appended.
  ///
  /// - Throws: ``OutputError``.
  func flush() throws(OutputError) {
    do throws(Errno) { try writeAll(pending, to: descriptor) } catch { throw OutputError(writing: path, error) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Puts the file in its place.
  ///
  /// - Returns: false if an equal file was there, which stays.
  /// - Throws: ``OutputError``. The file that was there stays.
  func publish() throws(OutputError) -> Bool {
    try flush()
    try check()
    do throws(Errno) { return try file.put() } catch { throw OutputError(writing: path, error) }
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
