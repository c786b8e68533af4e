import ArgumentParser
import Foundation

/// A text on standard output that is shown again and again: on a terminal in the place of the one before, elsewhere
/// behind it.
struct LiveText {
  private let isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  /// Rows of the text that stands there now.
  private var rows = 0

  /// - Parameters:
  ///   - text: whole lines. Control characters in them are shown, not obeyed.
  ///   - isLast: it is shown in full, whatever fits.
  /// - Throws: an exit status where it cannot be written.
  mutating func show(_ text: String, isLast: Bool) throws(ExitCode) {
    let text = Console.harmless(text)
    guard isTerminal, !isLast else { return try StandardStream.put(text) }
    // What does not fit could not be taken away again.
    let (screenRows, columns) = Self.size
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
      line.count <= columns ? String(line) : line.prefix(columns - 1) + "…"
    }
    if lines.count > screenRows - 1 { lines = Array(lines.prefix(screenRows - 2)) + ["…"] }
    let back = rows > 0 ? "\u{1B}[\(rows)A\r\u{1B}[J" : ""
    rows = lines.count
    try StandardStream.put("\(back)\u{1B}[?7l\(lines.joined(separator: "\n"))\n\u{1B}[?7h")
  }

  /// Of the terminal.
  private static var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2, size.ws_col > 1 else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }
}
