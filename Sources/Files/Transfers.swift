import Foundation
import SystemPackage

// Whole transfers: a signal may interrupt a system call (`EINTR`), and a call may transfer less than it was asked to.

/// Repeats a system call for as long as signals interrupt it.
///
/// - Returns: what the call returned; where that is negative, `errno` says why, and it is not `EINTR`.
package func retryOnInterrupt<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

/// Writes all bytes, in as many calls as it takes.
///
/// - Parameter file: blocking; of one that is not, `EAGAIN` is an error as any other.
/// - Throws: what the system says; part of the bytes may be written then.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to file: CInt) throws(Errno) {
  var done = 0
  while done < bytes.count {
    let count = retryOnInterrupt { write(file, bytes.baseAddress! + done, bytes.count - done) }
    if count < 0 { throw Errno(rawValue: errno) }
    if count == 0 { throw .ioError }
    done += count
  }
}

/// The same of a collection.
package func writeAll(_ bytes: some Collection<UInt8>, to file: CInt) throws(Errno) {
  let result = Array(bytes).withUnsafeBytes { bytes in
    Result { () throws(Errno) in try writeAll(bytes, to: file) }
  }
  try result.get()
}

/// Reads until the buffer is full or the file ends.
///
/// - Parameter offset: where in the file to begin, in bytes; the file's own position is left alone then. Nil reads on from
///   that position.
/// - Returns: bytes read: fewer than the buffer has room for only where the file ended.
/// - Throws: what the system says.
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

/// Reads on from the file's position to its end, but no more than `limit` bytes.
///
/// - Throws: what the system says.
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
