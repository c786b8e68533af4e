import Foundation
import Locking

/// Standard error, where everything for people goes: lines, and on a terminal one line at the bottom that is redrawn.
final class Console: Sendable {
  private struct State {
    /// What stands in the bottom line now.
    var bottom = ""
  }

  /// Guards what is on the screen: each message is one write under it.
  private let state = Locked(State())
  let isTerminal = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  let hasColour: Bool
  let patience = Patience(.seconds(1))

  init() {
    hasColour = isTerminal && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Writes whole lines, above the bottom line. Control characters in them are shown, not obeyed.
  func say(_ text: String) {
    let text = Self.harmless(text)
    state.withLock { state in
      self.write(Self.clear(state.bottom) + text + "\n" + Self.unwrapped(state.bottom))
    }
  }

  /// Redraws the bottom line; an empty one removes it.
  func setBottom(_ text: String) {
    state.withLock { state in
      guard text != state.bottom else { return }
      self.write(Self.clear(state.bottom) + Self.unwrapped(text))
      state.bottom = text
    }
  }

  /// Columns of the terminal.
  var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// A text in which control characters but the line feed are shown as what they are.
  static func harmless(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
      // And those that turn the direction of writing: text behind them would pass for other text.
      scalar.properties.generalCategory == .control && scalar != "\n" || ("\u{202A}"..."\u{202E}").contains(scalar)
        || ("\u{2066}"..."\u{2069}").contains(scalar)
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { $0 += isControl($1) ? $1.escaped(asASCII: true) : String($1) }
  }

  /// Cut off at the edge of the screen, however wide its characters are there: a line that went on in the next row could
  /// not be taken away again.
  private static func unwrapped(_ bottom: String) -> String { bottom.isEmpty ? "" : "\u{1B}[?7l\(bottom)\u{1B}[?7h" }

  private static func clear(_ bottom: String) -> String { bottom.isEmpty ? "" : "\r\u{1B}[K" }

  /// Nobody can be told when standard error itself fails, so nobody is.
  private func write(_ text: String) { _ = StandardStream.write(text, to: STDERR_FILENO, patience: patience) }
}
