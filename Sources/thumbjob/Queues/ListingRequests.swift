import Synchronization

/// Prints a list of operations whenever USR1 asks for it. While one waits to be printed, further requests are dropped, so that they
/// cannot pile up.
///
/// *Concurrency*: every member may be called from any thread.
final class ListingRequests: Sendable {
  /// The most waiting operations to list.
  static let longest = 10_000

  private let isWaiting = Atomic(false)

  /// - Parameter text: makes the list for the columns of the terminal, with what takes the place of what is left out of a line.
  func print(to messages: Messages, _ text: @escaping @Sendable (_ columns: Int?, _ ellipsis: String) -> String) {
    guard !isWaiting.exchange(true, ordering: .acquiringAndReleasing) else { return }
    messages.print { [self] console in
      isWaiting.store(false, ordering: .releasing)
      let terminal = console.terminal
      console.print(text(terminal.columns, terminal.charset.ellipsis))
    }
  }
}
