import Foundation

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// A terminal for a command under test: it has a size, and collects what the command writes to it.
///
/// *Concurrency*: a thread reads the screen until the command has closed the terminal.
public final class PseudoTerminal: Sendable {
  /// The side of the screen.
  private let screen: CInt
  /// The side of the command; −1 after the command has ended.
  private let side: LockedBox<CInt>
  private let collected = LockedBox<[UInt8]>([])
  private let isClosed = LockedBox(false)

  public init(columns: Int, rows: Int = 24) {
    var (screen, side): (CInt, CInt) = (-1, -1)
    precondition(openpty(&screen, &side, nil, nil, nil) == 0, "no pseudo-terminal")
    for file in [screen, side] { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
    self.screen = screen
    self.side = LockedBox(side)
    resize(columns: columns, rows: rows)
  }

  deinit {
    closeSide()
    close(screen)
  }

  public func resize(columns: Int, rows: Int = 24) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    precondition(ioctl(screen, UInt(TIOCSWINSZ), &size) == 0)
  }

  /// Types a text, as a user does.
  public func type(_ text: String) {
    let bytes = Array(text.utf8)
    precondition(write(screen, bytes, bytes.count) == bytes.count)
  }

  /// All that was written so far, with its control sequences. A line ends with CR LF.
  public var output: String { String(decoding: collected.value, as: UTF8.self) }

  /// The texts so far of the line at the bottom of the screen, which is redrawn, without colours.
  public var bottomLines: [String] {
    output.components(separatedBy: "\u{1B}[?7l").dropFirst().map { rest in
      Self.plain(rest.components(separatedBy: "\u{1B}[?7h")[0])
    }
  }

  /// All lines that were printed so far, without colours and without the line at the bottom.
  public var lines: [String] {
    let text = output.replacing(/\x1B\[\?7l.*?\x1B\[\?7h/.dotMatchesNewlines(), with: "")
    // CR LF is one character.
    let plain = Self.plain(text).replacing("\r\n", with: "\n").replacing("\r", with: "")
    return plain.components(separatedBy: "\n").dropLast()
  }

  /// Without colours and other control sequences.
  private static func plain(_ text: String) -> String { text.replacing(/\x1B\[[0-9;?]*[A-Za-z]/, with: "") }

  /// The terminal for one stream of the command.
  func opened() -> FileDescriptor {
    let file = fcntl(side.value, F_DUPFD_CLOEXEC, 0)
    precondition(file >= 0, "the terminal was used before")
    return FileDescriptor(rawValue: file)
  }

  /// Collects what is written, until all streams are closed.
  func collect() {
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(screen, &buffer, buffer.count)
        if count > 0 {
          collected.change { $0 += buffer[..<count] }
        } else if count == 0 || errno != EINTR {
          break
        }
      }
      isClosed.change { $0 = true }
    }
  }

  /// Waits until everything is collected. Call it when the command has ended.
  func drain() async throws {
    closeSide()
    _ = try await eventually { self.isClosed.value }
  }

  private func closeSide() {
    side.change { side in
      if side >= 0 { close(side) }
      side = -1
    }
  }
}
