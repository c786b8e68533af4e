import Foundation
import Locking

/// Messages on standard error: lines and, on a terminal, a line at the bottom that is redrawn.
final class Console: Sendable {
  let terminal = Terminal(STDERR_FILENO)
  let deadline = WriteDeadline(.seconds(1))
  /// The bottom line as it was written. The lock also guards the order of writes.
  private let bottom = Locked("")

  var isTerminal: Bool { terminal.isTerminal }

  /// Prints whole lines above the bottom line. Control characters in them are escaped.
  func print(_ text: String, _ style: StyledText.Style? = nil) { print(StyledText(text, style)) }

  /// Prints whole lines above the bottom line. Control characters in them are escaped.
  func print(_ text: StyledText) {
    let text = terminal.rendered(text)
    bottom.withLock { bottom in
      write(Self.removal(of: bottom) + text + "\n" + Self.drawing(of: bottom))
    }
  }

  /// Asks a question on the terminal, and waits for a line on standard input.
  ///
  /// - Parameter shouldStop: asked some times a second; true ends the wait.
  /// - Returns: whether the line begins with a `y`.
  func confirm(_ question: String, shouldStop: () -> Bool) -> Bool {
    bottom.withLock { _ in write(terminal.rendered(StyledText(question))) }
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    while poll(&input, 1, 100) <= 0 {
      if shouldStop() {
        write("\n")
        return false
      }
    }
    return readLine()?.lowercased().hasPrefix("y") == true
  }

  /// Redraws the bottom line. An empty text removes it.
  func setBottom(_ text: String) { setBottom(StyledText(text)) }

  /// Redraws the bottom line, cut off at the edge of the terminal. An empty text removes it.
  func setBottom(_ text: StyledText) {
    let text = terminal.renderedLine(text)
    bottom.withLock { bottom in
      guard text != bottom else { return }
      write(Self.removal(of: bottom) + Self.drawing(of: text))
      bottom = text
    }
  }

  /// Removes the bottom line for a process that exits at once: without the lock, which a blocked write may hold.
  func abandonBottom() {
    let deadline = WriteDeadline(.zero)
    deadline.begin()
    if isTerminal { _ = StandardStream.write(Self.removal, to: STDERR_FILENO, deadline: deadline) }
  }

  /// The terminal must not wrap the line: a second row could not be removed later. The cursor goes back to the beginning,
  /// because a terminal that gets narrower may wrap the line afterwards, and all of its rows are below the cursor then.
  private static func drawing(of bottom: String) -> String { bottom.isEmpty ? "" : "\u{1B}[?7l\(bottom)\u{1B}[?7h\r" }

  private static func removal(of bottom: String) -> String { bottom.isEmpty ? "" : removal }

  /// Clears the screen from the beginning of the line.
  private static let removal = "\r\u{1B}[J"

  /// Ignores errors, because they could only be reported to standard error.
  private func write(_ text: String) { _ = StandardStream.write(text, to: STDERR_FILENO, deadline: deadline) }
}
