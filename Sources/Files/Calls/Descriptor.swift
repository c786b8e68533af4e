import Foundation

#if os(Linux)
import CLinux
#endif

/// An open file; closed when the last reference is released.
package final class Descriptor: Sendable {
  /// Negative if the call that should have opened it failed; nothing is closed then.
  package let number: CInt

  package init(_ number: CInt) { self.number = number }

  deinit { if number >= 0 { Foundation.close(number) } }

  /// Opens a file with a descriptor that no child process inherits.
  ///
  /// - Parameter flags: of open(2).
  /// - Throws: ``SystemError``
  package static func open(_ path: String, _ flags: CInt) throws(SystemError) -> Descriptor {
    let number = retryOnInterrupt { Foundation.open(path, flags | O_CLOEXEC) }
    if number < 0 { throw SystemError(path) }
    return Descriptor(number)
  }

  /// Closes the file, but not its number, which becomes another one of a folder. Threads that still use the number get errors,
  /// and cannot meet a file that has got the number since.
  package func close(leaving folder: Descriptor) {
    if number < 0 || number == folder.number { return }
    #if os(Linux)
    _ = retryOnInterrupt { dup3(folder.number, number, O_CLOEXEC) }
    #else
    _ = retryOnInterrupt { dup2(folder.number, number) }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    #endif
  }

  /// Writes all bytes with one call of write(2), as files of the kernel require.
  ///
  /// - Returns: false if not all bytes were written.
  package func write(_ bytes: [UInt8]) -> Bool {
    retryOnInterrupt { Foundation.write(number, bytes, bytes.count) } == bytes.count
  }

  /// Reads and discards the bytes that have arrived, up to 256 KiB.
  ///
  /// - Returns: whether there were any bytes, and whether the other side has closed.
  package func discard() -> (any: Bool, ended: Bool) {
    var seen = false
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
      for _ in 0..<64 {
        let count = retryOnInterrupt { read(number, buffer.baseAddress, buffer.count) }
        if count == 0 { return (seen, true) }
        if count < 0 { return (seen, errno != EAGAIN) }
        seen = true
      }
      return (seen, false)
    }
  }
}
