import Foundation

/// A file that appears whole or not at all: it has no name until it is put in its place. There it replaces a file, unless that
/// has the same contents.
///
/// A file without a name cannot replace another one. So it gets a temporary name first, or it is copied to one where the
/// file system gives it none.
///
/// *Concurrency*: one thread at a time may use it.
package final class WholeFile: Sendable {
  /// The file, to write to.
  package let contents: Descriptor
  private let name: Path
  private let folder: CInt
  private let temporary: (name: Path, folder: CInt)
  private let isDurable: Bool

  /// Creates the file without a name.
  ///
  /// - Parameters:
  ///   - name: the name that it gets in the end, without slashes.
  ///   - folder: the open folder for the name. It must stay open as long as this object is used.
  ///   - temporary: the name that it has before it replaces another file. Runs that are killed may leave it.
  ///   - work: the open folder for the file until it is in its place, on the same file system; default: `folder`. It must stay
  ///     open, too.
  ///   - isDurable: whether to wait for the disk before the file is in its place, and afterwards.
  package init(
    _ name: Path, in folder: CInt, temporary: Path, in work: CInt? = nil, isDurable: Bool = false
  ) throws(Errno) {
    (self.name, self.folder, self.temporary) = (name, folder, (temporary, work ?? folder))
    self.isDurable = isDurable
    contents = Descriptor(try createUnnamedFile(in: self.temporary.folder))
  }

  /// Puts the file in its place.
  ///
  /// - Returns: false if an equal file was there, which stays.
  /// - Throws: the error of the system. The file that was there stays.
  @discardableResult
  package func put() throws(Errno) -> Bool {
    unlink(temporary.name, in: temporary.folder)
    if isUnchanged() { return false }
    if isDurable { try syncToDisk(contents.number) }
    // Where the name cannot be given, a rename may still do.
    do throws(Errno) { try link(contents, to: name, in: folder) } catch { try replace() }
    // Some network file systems cannot do this for folders, and do not need it.
    if isDurable { do throws(Errno) { try syncToDisk(folder) } catch  where error == .invalidArgument {} }
    return true
  }

  /// Replaces the file that is there. A temporary file with the same name is of a process that was killed, or that is doing the
  /// same at this moment. Removing it makes the other try again, so each tries often.
  private func replace() throws(Errno) {
    for attempt in 1... {
      unlink(temporary.name, in: temporary.folder)
      do throws(Errno) {
        do throws(Errno) { try link(contents, to: temporary.name, in: temporary.folder) } catch {
          if error == .fileExists { throw error }
          try copy()
        }
        return try rename(temporary.name, in: temporary.folder, to: name, in: folder)
      } catch {
        let isOfOther = error == .fileExists || error == .noSuchFileOrDirectory
        if attempt == 1000 || !isOfOther {
          unlink(temporary.name, in: temporary.folder)
          throw error
        }
      }
    }
  }

  /// Copies the file to the temporary name.
  private func copy() throws(Errno) {
    let copy = try createFile(temporary.name, in: temporary.folder, flags: O_WRONLY | O_EXCL)
    var failure: Errno?
    do throws(Errno) {
      try forEachChunk { chunk, _ throws(Errno) in
        try writeAll(chunk, to: copy)
        return true
      }
      if isDurable { try syncToDisk(copy) }
    } catch {
      failure = error
    }
    do throws(Errno) { try closeChecked(copy) } catch { failure = failure ?? error }
    if let failure { throw failure }
  }

  /// Whether the file that is there has the same contents. One that cannot be read is replaced.
  private func isUnchanged() -> Bool {
    guard let there = try? openToRead(name, in: folder) else { return false }
    defer { close(there) }
    guard size(of: there) == size(of: contents.number) else { return false }
    let isSame = try? forEachChunk { chunk, offset throws(Errno) in
      try readAll(chunk.count, from: there, at: offset) == chunk
    }
    return isSame == true
  }

  private func size(of file: CInt) -> Int? {
    var status = stat()
    return fstat(file, &status) == 0 ? Int(status.st_size) : nil
  }

  /// - Parameter body: receives some bytes of the file and their offset; false ends the loop.
  /// - Returns: false if `body` has ended the loop.
  @discardableResult
  private func forEachChunk(_ body: ([UInt8], Int) throws(Errno) -> Bool) throws(Errno) -> Bool {
    var offset = 0
    while case let chunk = try readAll(1 << 16, from: contents.number, at: offset), !chunk.isEmpty {
      if try !body(chunk, offset) { return false }
      offset += chunk.count
    }
    return true
  }
}
