import ArgumentParser
import Foundation

/// A text on standard output that is updated. On a terminal, each version replaces the one before; elsewhere, it is
/// printed after it.
struct LiveText {
  private let terminal = Terminal(STDOUT_FILENO)
  /// The number of rows on the screen now, and the columns that it had when they were written.
  private var (rows, columns) = (0, 0)

  /// The columns for which to format the text; nil for no limit.
  var width: Int? { terminal.columns }
  var charset: Charset { terminal.charset }

  /// - Parameters:
  ///   - text: whole lines. Control characters in them are escaped.
  ///   - isLast: whether to show all of it, even if it does not fit on the screen.
  /// - Throws: an exit status if the text cannot be written.
  mutating func show(_ text: String, isLast: Bool) throws(ExitCode) {
    let text = terminal.shown(text)
    guard terminal.isTerminal, !isLast else { return try StandardStream.put(text) }
    // Only what fits on the screen: rows that have scrolled off it could not be replaced later.
    let screen = terminal.size
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      $0.fitted(to: screen.columns, charset.ellipsis)
    }
    if lines.count > screen.rows - 1 { lines = Array(lines.prefix(screen.rows - 2)) + [charset.ellipsis] }
    // A terminal of another width may have wrapped the rows, so their number is unknown: clear the screen.
    let back = rows == 0 ? "" : columns == screen.columns ? "\u{1B}[\(rows)A\r\u{1B}[J" : "\u{1B}[H\u{1B}[J"
    (rows, columns) = (lines.count, screen.columns)
    try StandardStream.put("\(back)\u{1B}[?7l\(lines.joined(separator: "\n"))\n\u{1B}[?7h")
  }
}
