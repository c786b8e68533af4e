import Foundation
import Locking

/// Messages on standard error: lines and, on a terminal, a line at the bottom that is redrawn.
final class Console: Sendable {
  private struct State {
    /// The text of the bottom line.
    var bottom = ""
  }

  /// Guards the order of writes.
  private let state = Locked(State())
  let isTerminal = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  let hasColour: Bool
  let deadline = WriteDeadline(.seconds(1))

  init() {
    hasColour = isTerminal && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Prints whole lines above the bottom line. Control characters in them are escaped.
  func print(_ text: String) {
    let text = Self.escaped(text)
    state.withLock { state in
      self.write(Self.clear(state.bottom) + text + "\n" + Self.unwrapped(state.bottom))
    }
  }

  /// Redraws the bottom line. An empty text removes it.
  func setBottom(_ text: String) {
    state.withLock { state in
      guard text != state.bottom else { return }
      self.write(Self.clear(state.bottom) + Self.unwrapped(text))
      state.bottom = text
    }
  }

  /// The width of the terminal in columns.
  var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The text with all control characters escaped except line feeds, so that a terminal does not interpret them.
  static func escaped(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
      // Also those that change the direction of writing: they can make a text look like another.
      scalar.properties.generalCategory == .control && scalar != "\n" || ("\u{202A}"..."\u{202E}").contains(scalar)
        || ("\u{2066}"..."\u{2069}").contains(scalar)
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { $0 += isControl($1) ? $1.escaped(asASCII: true) : String($1) }
  }

  /// Switches off line wrapping for the bottom line: the terminal cuts it off at the edge. A second row could not be removed
  /// later.
  private static func unwrapped(_ bottom: String) -> String { bottom.isEmpty ? "" : "\u{1B}[?7l\(bottom)\u{1B}[?7h" }

  private static func clear(_ bottom: String) -> String { bottom.isEmpty ? "" : "\r\u{1B}[K" }

  /// Ignores errors, because they could only be reported to standard error.
  private func write(_ text: String) { _ = StandardStream.write(text, to: STDERR_FILENO, deadline: deadline) }
}
