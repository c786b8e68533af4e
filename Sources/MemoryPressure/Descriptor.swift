import Foundation

/// An open file, closed with its last reference.
final class Descriptor: Sendable {
  let number: CInt

  init(_ number: CInt) { self.number = number }

  deinit { if number >= 0 { close(number) } }

  /// A descriptor that no child process inherits.
  ///
  /// - Throws: ``SystemError``
  static func open(_ path: String, _ flags: CInt) throws(SystemError) -> Descriptor {
    while true {
      let number = Foundation.open(path, flags | O_CLOEXEC)
      if number >= 0 { return Descriptor(number) }
      if errno != EINTR { throw SystemError(path) }
    }
  }

  /// Writes in one call, which is what the kernel's files ask for.
  func write(_ bytes: [UInt8]) -> Bool {
    while true {
      let count = Foundation.write(number, bytes, bytes.count)
      if count >= 0 || errno != EINTR { return count == bytes.count }
    }
  }

  /// Reads and discards what has arrived; a writer faster than this is left for the next time.
  ///
  /// - Returns: whether there was anything, and whether the other side has closed.
  func discard() -> (any: Bool, ended: Bool) {
    var seen = false
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
      for _ in 0..<64 {
        let count = read(number, buffer.baseAddress, buffer.count)
        if count > 0 {
          seen = true
        } else if count == 0 {
          return (seen, true)
        } else if errno != EINTR {
          return (seen, errno != EAGAIN)
        }
      }
      return (seen, false)
    }
  }
}

/// A system call failed on a file.
struct SystemError: Error, CustomStringConvertible {
  let path: String
  let number: CInt

  /// With the number of the last failure.
  init(_ path: String) { (self.path, number) = (path, errno) }

  var description: String { "\(path): \(systemText(number))" }
}
