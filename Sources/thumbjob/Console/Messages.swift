import Files
import Locking

/// Prints messages on standard error, on a thread of its own and in order, so that a reader that does not read stops
/// neither the job nor the answers to signals.
///
/// Lines about sources may be very many. At most ``capacity`` of them wait. Their senders wait for room while the reader
/// reads; if it takes nothing for a second, lines are dropped until it reads again, and their number is printed.
///
/// *Concurrency*: every member may be called from any thread.
final class Messages: Sendable {
  private struct State {
    /// Lines about sources that are not printed yet.
    var waiting = 0
    var printed = 0
    /// Senders that wait for room.
    var senders = 0
    /// Lines that were dropped and not yet reported.
    var dropped = 0
    /// Whether the reader takes nothing, so that no sender waits for it.
    var isStuck = false
  }

  /// The most lines about sources that wait.
  static let capacity = 256
  /// How long a sender waits for a reader that takes nothing.
  private static let patience = Duration.seconds(1)

  private let console: Console
  private let thread = SerialThread(name: "messages")
  private let state = Locked(State())
  /// Signalled for a sender when a line has been printed. There may be more signals than senders, so a sender checks
  /// again.
  private let room = TimedSignal()

  init(_ console: Console) { self.console = console }

  /// Prints a message that is never dropped. These are few.
  func print(_ text: StyledText) { print { $0.print(text) } }

  /// Prints what `body` makes once it is its turn. Never dropped.
  func print(_ body: @escaping @Sendable (Console) -> Void) {
    thread.async { [console] in body(console) }
  }

  /// Prints a line about a source, unless the reader does not read.
  func printLine(_ text: String, _ style: StyledText.Style? = nil) {
    guard takeRoom() else { return }
    thread.async { [self] in
      console.print(text, style)
      giveRoom()
    }
  }

  /// Waits until all earlier messages are printed.
  ///
  /// - Parameter timeout: how long to wait; nil means for ever.
  func drain(upTo timeout: Duration? = nil) { thread.drain(upTo: timeout) }

  /// Waits for room if need be. Returns false if the line is dropped.
  private func takeRoom() -> Bool {
    while true {
      // Nil to wait.
      let (hasRoom, printed): (Bool?, Int) = state.withLock { state in
        if state.waiting < Self.capacity {
          state.waiting += 1
          return (true, state.printed)
        }
        if state.isStuck {
          state.dropped += 1
          return (false, state.printed)
        }
        state.senders += 1
        return (nil, state.printed)
      }
      if let hasRoom { return hasRoom }
      let isLate = !room.wait(upTo: Self.patience)
      state.withLock { state in
        state.senders -= 1
        if isLate && state.printed == printed { state.isStuck = true }
      }
    }
  }

  private func giveRoom() {
    let (dropped, hasSender) = state.withLock { state in
      state.waiting -= 1
      state.printed += 1
      state.isStuck = false
      defer { if state.waiting == 0 { state.dropped = 0 } }
      return (state.waiting == 0 ? state.dropped : 0, state.senders > 0)
    }
    if hasSender { room.signal() }
    guard dropped > 0 else { return }
    console.print("thumbjob: \(Units.count(dropped, "line")) not printed, because nobody read standard error", .warning)
  }
}
