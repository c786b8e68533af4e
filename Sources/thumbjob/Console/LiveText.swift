import ArgumentParser
import Foundation

/// A text on standard output that is updated. On a terminal, each version replaces the one before; elsewhere, it is
/// printed after it.
struct LiveText {
  private let isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  /// The number of rows on the screen now.
  private var rows = 0

  /// - Parameters:
  ///   - text: whole lines. Control characters in them are escaped.
  ///   - isLast: whether to show all of it, even if it does not fit on the screen.
  /// - Throws: an exit status if the text cannot be written.
  mutating func show(_ text: String, isLast: Bool) throws(ExitCode) {
    let text = Console.escaped(text)
    guard isTerminal, !isLast else { return try StandardStream.put(text) }
    // Only what fits on the screen: rows that have scrolled off it could not be replaced later.
    let (screenRows, columns) = Self.size
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
      line.count <= columns ? String(line) : line.prefix(columns - 1) + "…"
    }
    if lines.count > screenRows - 1 { lines = Array(lines.prefix(screenRows - 2)) + ["…"] }
    let back = rows > 0 ? "\u{1B}[\(rows)A\r\u{1B}[J" : ""
    rows = lines.count
    try StandardStream.put("\(back)\u{1B}[?7l\(lines.joined(separator: "\n"))\n\u{1B}[?7h")
  }

  /// The size of the terminal.
  private static var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2, size.ws_col > 1 else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }
}
