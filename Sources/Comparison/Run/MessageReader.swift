import Files
import Foundation

/// Reads the messages of a variant's process. Memory is bounded, and lines that are not messages are skipped.
struct MessageReader {
  /// No message is longer: paths have 4096 bytes at most, each of which becomes 5 in a printable path as JSON.
  static let maxLineBytes = 1 << 16

  private let descriptor: CInt
  private var lines = EntrySplitter(separator: VariantMessage.newline, maximumLength: maxLineBytes)

  init(_ descriptor: CInt) { self.descriptor = descriptor }

  /// Waits for messages.
  ///
  /// - Parameter seconds: the longest wait.
  /// - Returns: the messages that have arrived, if any; nil when the process has closed its end.
  /// - Throws: the error of the system.
  mutating func read(within seconds: Double) throws(Errno) -> [VariantMessage]? {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let ready = poll(&wanted, 1, CInt((seconds * 1000).rounded(.up)))
    // After EINTR the caller computes anew how long to wait.
    if ready < 0 && errno != EINTR { throw Errno(rawValue: errno) }
    guard ready > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = buffer.withUnsafeMutableBytes { bytes in
      retryOnInterrupt { Foundation.read(descriptor, bytes.baseAddress, bytes.count) }
    }
    if count < 0 { throw Errno(rawValue: errno) }
    return count == 0 ? nil : append(buffer[..<count])
  }

  /// Adds bytes to the current line.
  ///
  /// - Returns: the messages that are complete.
  mutating func append(_ bytes: ArraySlice<UInt8>) -> [VariantMessage] {
    var messages: [VariantMessage] = []
    lines.append(bytes) { line in
      if line.count <= Self.maxLineBytes, let message = VariantMessage(line: line) { messages.append(message) }
    }
    return messages
  }
}
