import Foundation

/// Two threads take two locks in two orders.
enum LocksInTwoOrders: Lesson {
  static let name = "locks-in-two-orders"
  static let claim = "Two threads that take two locks in two orders wait for each other for ever."
  static let today =
    "Nothing ends it on Linux; debug builds of the guards trap at the second order, also if no thread waits that "
    + "time."
  static let file = #fileID

  /// Two accounts, each with its lock. Waits have a limit here, so that the lesson can end.
  private final class Accounts: @unchecked Sendable {
    let locks = [NSLock(), NSLock()]

    /// - Returns: whether both locks were got.
    func transfer(
      locking order: [Int], _ patience: Patience, between: () -> Void
    ) -> Bool {
      locks[order[0]].lock()
      defer { locks[order[0]].unlock() }
      between()
      guard locks[order[1]].lock(before: Date(timeIntervalSinceNow: patience.seconds)) else { return false }
      locks[order[1]].unlock()
      return true
    }
  }

  static func wrong() -> Outcome {
    let accounts = Accounts()
    let haveFirst = [Gate(), Gate()]
    return transfers { number in
      accounts.transfer(locking: number == 0 ? [0, 1] : [1, 0], .doubtful) {
        haveFirst[number].open()
        haveFirst[1 - number].wait()
      }
    }
  }

  static func right() -> Outcome {
    let accounts = Accounts()
    return transfers { _ in accounts.transfer(locking: [0, 1], .certain) {} }
  }

  private static func transfers(_ transfer: @escaping @Sendable (Int) -> Bool) -> Outcome {
    let done = [Gate(), Gate()]
    let players = (0...1).map { number in
      Player("transfer \(number)") { if transfer(number) { done[number].open() } }
    }
    for player in players { player.end.wait() }
    let count = done.count { $0.wait(.doubtful) }
    return Outcome(isFaulty: count < 2, count < 2 ? "the transfers wait for each other" : "both transfers end")
  }
}
