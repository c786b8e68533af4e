import BoundedQueue
import Foundation

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

  init() {
    hasColour = isTerminal && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Writes whole lines, above the bottom line.
  func say(_ text: String) {
    state.withLock { state in
      Self.write(Self.clear(state.bottom) + text + "\n" + state.bottom)
    }
  }

  /// Redraws the bottom line; an empty one removes it.
  func setBottom(_ text: String) {
    state.withLock { state in
      guard text != state.bottom else { return }
      Self.write(Self.clear(state.bottom) + text)
      state.bottom = text
    }
  }

  /// Columns of the terminal.
  var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  private static func clear(_ bottom: String) -> String { bottom.isEmpty ? "" : "\r\u{1B}[K" }

  /// Nobody can be told when standard error itself fails, so nobody is.
  private static func write(_ text: String) { _ = StandardStream.write(text, to: STDERR_FILENO) }
}

/// Writing all of a text to one of the standard streams.
enum StandardStream {
  /// - Returns: the error number, or nil when all is written.
  static func write(_ text: String, to descriptor: CInt) -> CInt? {
    var text = text
    return text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = Foundation.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        if count >= 0 {
          done += count
        } else if errno == EAGAIN {
          var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&wanted, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }
}
