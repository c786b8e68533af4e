import Files
import Foundation
import SystemPackage

/// A file that a join writes. It appears in its place whole or not at all, and where it changes nothing, the file that is
/// there stays untouched. Until then it has no name, so nothing remains of it if the process is killed.
///
/// *Concurrency*: one thread at a time may use it.
final class JoinFile {
  let path: Path
  private let folder: Descriptor
  private let contents: Descriptor
  /// Bytes that are not yet in the file.
  private var pending: [UInt8] = []

  private static let bufferSize = 1 << 16

  /// Checks that the file can be made, and makes missing folders above it.
  ///
  /// - Parameter kind: what a file that is already there must be; nil for a file that belongs to a gallery.
  /// - Throws: ``OutputError``: of kind `notJoin` if another file is there.
  init(_ path: Path, kind: JoinKind?) throws(OutputError) {
    self.path = path
    do throws(Errno) {
      try OutputFolder.makeFolder(path.parent, in: AT_FDCWD)
      folder = Descriptor(try openFolder(path.parent.isEmpty ? "." : path.parent, in: AT_FDCWD))
      contents = Descriptor(try createUnnamedFile(in: folder.number))
    } catch {
      throw OutputError(writing: path, error)
    }
    if let kind { try check(kind) }
  }

  /// Refuses to replace a file that thumbjob has not made.
  private func check(_ kind: JoinKind) throws(OutputError) {
    switch path.withCString({ FileStatus.of($0, in: AT_FDCWD, followingLinks: true) }) {
    case .failure(.noSuchFileOrDirectory): return
    case .failure(let error): throw OutputError(writing: path, error)
    case .success(let status) where status.kind == .folder: throw OutputError(writing: path, .isDirectory)
    case .success(let status):
      if status.kind == .regular, status.st_size == 0 { return }
      guard status.kind == .regular, readFile(path, limit: kind.signature.count) == kind.signature else {
        throw OutputError(.notJoin(kind), path)
      }
    }
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
    do throws(Errno) {
      if try isUnchanged() { return false }
      let temporary = Path(".thumbjob-\(getpid())-\(UInt32.random(in: 0 ... .max)).tmp")
      try name(temporary)
      do throws(Errno) {
        try rename(temporary, in: folder.number, to: path.lastName, in: folder.number)
      } catch {
        unlink(temporary, in: folder.number)
        throw error
      }
      return true
    } catch {
      throw OutputError(writing: path, error)
    }
  }

  /// Gives the file a name, or copies it where that is not possible.
  private func name(_ name: Path) throws(Errno) {
    let own = "/proc/self/fd/\(contents.number)"
    let linked = name.withCString { linkat(AT_FDCWD, own, folder.number, $0, AT_SYMLINK_FOLLOW) }
    if linked == 0 { return }
    let copy = Descriptor(try createFile(name, in: folder.number, flags: O_WRONLY | O_EXCL))
    do throws(Errno) {
      try forEachChunk(of: contents.number) { chunk, _ throws(Errno) in
        try writeAll(chunk, to: copy.number)
        return true
      }
    } catch {
      unlink(name, in: folder.number)
      throw error
    }
  }

  /// Whether the file that is there has the same contents.
  private func isUnchanged() throws(Errno) -> Bool {
    guard let there = try? openToRead(path.lastName, in: folder.number) else { return false }
    defer { close(there) }
    guard size(of: there) == size(of: contents.number) else { return false }
    return try forEachChunk(of: contents.number) { chunk, offset throws(Errno) in
      var other = [UInt8](repeating: 0, count: chunk.count)
      let read = other.withUnsafeMutableBytes { other in
        Result { () throws(Errno) in try readAll(into: other, from: there, at: offset) }
      }
      return try read.get() == chunk.count && other.elementsEqual(chunk)
    }
  }

  private func size(of file: CInt) -> Int? {
    var status = stat()
    return fstat(file, &status) == 0 ? Int(status.st_size) : nil
  }

  /// - Parameter body: receives some bytes and their offset; false ends the loop.
  /// - Returns: false if `body` has ended the loop.
  @discardableResult
  private func forEachChunk(
    of file: CInt, _ body: (ArraySlice<UInt8>, Int) throws(Errno) -> Bool
  ) throws(Errno) -> Bool {
    var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
    var offset = 0
    while true {
      let read = buffer.withUnsafeMutableBytes { buffer in
        Result { () throws(Errno) in try readAll(into: buffer, from: file, at: offset) }
      }
      let count = try read.get()
      if count == 0 { return true }
      if try !body(buffer[..<count], offset) { return false }
      offset += count
    }
  }
}
