import Foundation
import Locking

/// Data on standard output: JSON lines with `--json`, the plain lines of a dry run, or checksums.
///
/// *Concurrency*: every member may be called from any thread. Each line is written whole.
final class JSONLinesOutput: Sendable {
  /// Guards the order of lines. The value is the error number of the write that failed; after it, nothing is written.
  private let failure = Locked<CInt?>(nil)

  /// Longer than the console's for messages, because these lines are data.
  let deadline = WriteDeadline(.seconds(5))

  private let terminal = Terminal(STDOUT_FILENO)
  var isTerminal: Bool { terminal.isTerminal }

  /// The error number of the write that failed, `EPIPE` if no process reads; nil if all writes succeeded.
  var error: CInt? { failure.withLock { $0 } }

  /// Writes a value as a line of JSON.
  ///
  /// - Returns: false if this or an earlier write failed.
  @discardableResult
  func write(_ line: some Encodable) -> Bool { write(text: Self.text(of: line)) }

  /// Writes a line of a dry run. Only on a terminal does it depend on the locale.
  ///
  /// - Returns: false if this or an earlier write failed.
  func write(plain line: String) -> Bool { write(text: (isTerminal ? terminal.shown(line) : line) + "\n") }

  /// Writes lines as they are.
  ///
  /// - Returns: false if this or an earlier write failed.
  func write(bytes: [UInt8]) -> Bool {
    failure.withLock { failure in
      failure = failure ?? bytes.withUnsafeBytes { StandardStream.write($0, to: STDOUT_FILENO, deadline: deadline) }
      return failure == nil
    }
  }

  /// A value as a line of JSON.
  static func text(of line: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    guard let data = try? encoder.encode(line) else { preconditionFailure("every value can be encoded") }
    return String(decoding: data, as: UTF8.self) + "\n"
  }

  private func write(text: String) -> Bool {
    failure.withLock { failure in
      failure = failure ?? StandardStream.write(text, to: STDOUT_FILENO, deadline: deadline)
      return failure == nil
    }
  }
}
