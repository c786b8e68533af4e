import Foundation
import Locking

/// Standard output, which carries data only: with `--json` a line of JSON for each source that is done with, and a last
/// one with the sums.
///
/// *Concurrency*: every member may be called from any thread; a line is never torn.
final class OutputStream: Sendable {
  /// Guards the order of lines; holds the error number that ended it, after which nothing is written.
  private let failure = Locked<CInt?>(nil)

  /// Longer than for words: these are data.
  let patience = Patience(.seconds(5))

  /// Why nothing can be written any more: an error number, `EPIPE` when nobody reads; nil while all is well.
  var error: CInt? { failure.withLock { $0 } }

  /// Writes a value as a line of JSON.
  ///
  /// - Returns: false when the output has failed, now or before.
  @discardableResult
  func write(_ line: some Encodable) -> Bool { write(text: Self.text(of: line)) }

  /// A value as a line of JSON.
  static func text(of line: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    guard let data = try? encoder.encode(line) else { preconditionFailure("a line has only plain values") }
    return String(decoding: data, as: UTF8.self) + "\n"
  }

  /// - Returns: false when the output has failed, now or before.
  func write(text: String) -> Bool {
    failure.withLock { failure in
      failure = failure ?? StandardStream.write(text, to: STDOUT_FILENO, patience: patience)
      return failure == nil
    }
  }
}
