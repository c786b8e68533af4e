import Foundation

// Complete transfers: a signal may interrupt a system call (`EINTR`), and a call may transfer fewer bytes than
// requested.

/// Repeats a system call as long as signals interrupt it.
///
/// - Returns: the result of the last call; if it is negative, `errno` has the reason, which is not `EINTR`.
package func retryOnInterrupt<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

/// Writes all bytes, with as many calls as needed.
///
/// - Parameters:
///   - file: a blocking descriptor; `EAGAIN` of a non-blocking one is thrown.
///   - offset: the byte of the file to begin at, which leaves the file position unchanged; nil to write at the file
///     position.
/// - Throws: the error of the system; some of the bytes may have been written.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to file: CInt, at offset: Int? = nil) throws(Errno) {
  var done = 0
  while done < bytes.count {
    let count = retryOnInterrupt {
      let (place, size) = (bytes.baseAddress! + done, bytes.count - done)
      return if let offset { pwrite(file, place, size, off_t(offset + done)) } else { write(file, place, size) }
    }
    if count < 0 { throw Errno(rawValue: errno) }
    if count == 0 { throw .ioError }
    done += count
  }
}

/// Writes all bytes of a collection, with as many calls as needed.
///
/// - Parameter offset: as above.
/// - Throws: the error of the system; some of the bytes may have been written.
package func writeAll(_ bytes: some Collection<UInt8>, to file: CInt, at offset: Int? = nil) throws(Errno) {
  let result = Array(bytes).withUnsafeBytes { bytes in
    Result { () throws(Errno) in try writeAll(bytes, to: file, at: offset) }
  }
  try result.get()
}

/// Reads until the buffer is full or the file ends.
///
/// - Parameter offset: the byte of the file to begin at, which leaves the file position unchanged; nil to read from the
///   file position.
/// - Returns: the number of bytes read; fewer than the size of the buffer only if the file ended.
/// - Throws: the error of the system.
package func readAll(
  into buffer: UnsafeMutableRawBufferPointer, from file: CInt, at offset: Int? = nil
) throws(Errno) -> Int {
  var done = 0
  while done < buffer.count {
    let count = retryOnInterrupt {
      let (place, size) = (buffer.baseAddress! + done, buffer.count - done)
      return if let offset { pread(file, place, size, off_t(offset + done)) } else { read(file, place, size) }
    }
    if count < 0 { throw Errno(rawValue: errno) }
    if count == 0 { break }
    done += count
  }
  return done
}

/// Reads bytes from an offset, which leaves the file position unchanged; fewer than `count` only if the file ends before.
///
/// - Throws: the error of the system.
package func readAll(_ count: Int, from file: CInt, at offset: Int) throws(Errno) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  let read = bytes.withUnsafeMutableBytes { bytes in
    Result { () throws(Errno) in try readAll(into: bytes, from: file, at: offset) }
  }
  bytes.removeLast(count - (try read.get()))
  return bytes
}

/// Reads from the file position to the end, at most `limit` bytes.
///
/// - Throws: the error of the system.
package func readAll(from file: CInt, limit: Int = .max) throws(Errno) -> [UInt8] {
  var bytes: [UInt8] = []
  while bytes.count < limit {
    let size = min(limit - bytes.count, 1 << 14)
    var failure: Errno?
    let chunk = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      do throws(Errno) {
        count = try readAll(into: UnsafeMutableRawBufferPointer(buffer), from: file)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    bytes += chunk
    if chunk.count < size { break }
  }
  return bytes
}

/// The first bytes of a file, at most `limit`; nil if it cannot be opened or read. A link is not followed, and a pipe
/// or a device does not block.
///
/// - Parameter folder: the open folder from which a relative path starts.
package func readFile(_ path: Path, in folder: CInt = AT_FDCWD, limit: Int) -> [UInt8]? {
  try? readBeginning(of: path, in: folder, limit: limit)
}

/// The first bytes of a file, as ``readFile(_:in:limit:)`` reads them.
///
/// - Throws: the error of the system.
package func readBeginning(of path: Path, in folder: CInt, limit: Int) throws(Errno) -> [UInt8] {
  let file = try openToRead(path, in: folder, flags: O_NOFOLLOW)
  defer { close(file) }
  return try readAll(from: file, limit: limit)
}
