import Foundation

/// An open file, closed with its last reference.
package final class Descriptor: Sendable {
  /// Negative where a call that makes descriptors has failed: then there is nothing to close.
  package let number: CInt

  package init(_ number: CInt) { self.number = number }

  deinit { if number >= 0 { close(number) } }

  /// A descriptor that no child process inherits.
  ///
  /// - Throws: ``SystemError``
  package static func open(_ path: String, _ flags: CInt) throws(SystemError) -> Descriptor {
    let number = retryOnInterrupt { Foundation.open(path, flags | O_CLOEXEC) }
    if number < 0 { throw SystemError(path) }
    return Descriptor(number)
  }

  /// Writes in one call, which is what the kernel's files ask for.
  ///
  /// - Returns: false where not all of it was written.
  package func write(_ bytes: [UInt8]) -> Bool {
    retryOnInterrupt { Foundation.write(number, bytes, bytes.count) } == bytes.count
  }

  /// Reads and discards what has arrived; a writer faster than this is left for the next time.
  ///
  /// - Returns: whether there was anything, and whether the other side has closed.
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

/// A system call failed on a file.
package struct SystemError: Error, CustomStringConvertible {
  package let path: String
  /// A value of `errno`.
  package let number: CInt

  /// With the number of the last failure.
  package init(_ path: String) { (self.path, number) = (path, errno) }

  package var description: String { "\(path): \(systemText(number))" }
}

/// What the system says went wrong.
///
/// - Parameter number: a value of `errno`.
package func systemText(_ number: CInt) -> String { String(cString: strerror(number)) }
