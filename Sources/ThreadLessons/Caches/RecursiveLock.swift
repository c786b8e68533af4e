import Foundation

/// A recursive lock hides a half-done change.
enum RecursiveLock: Lesson {
  static let name = "recursive-lock"
  static let claim =
    "A recursive lock lets a thread into its own half-done change, which another lock would have reported."
  static let today =
    "True of `NSRecursiveLock`; no guard of this project is recursive, and debug builds name the second lock."
  static let file = #fileID

  /// Moves money between two accounts, and tells an observer of each change.
  private final class Bank: @unchecked Sendable {  // the lock guards the accounts
    private let lock = NSRecursiveLock()
    private var accounts = [100, 0]
    private var observer: (Bank) -> Void = { _ in }

    init(_ observer: @escaping (Bank) -> Void) { self.observer = observer }

    var total: Int { lock.withLock { accounts.reduce(0, +) } }

    func moveTellingOnTheWay() {
      lock.withLock {
        accounts[0] -= 10
        observer(self)
        accounts[1] += 10
      }
    }

    func moveTellingAtTheEnd() {
      lock.withLock {
        accounts[0] -= 10
        accounts[1] += 10
      }
      observer(self)
    }
  }

  static func wrong() -> Outcome { outcome { $0.moveTellingOnTheWay() } }

  static func right() -> Outcome { outcome { $0.moveTellingAtTheEnd() } }

  private static func outcome(_ move: (Bank) -> Void) -> Outcome {
    var seen = 0
    move(Bank { seen = $0.total })
    return Outcome(isFaulty: seen != 100, "an observer sees a total of \(seen) instead of 100")
  }
}
