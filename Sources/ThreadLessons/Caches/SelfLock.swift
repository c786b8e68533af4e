import Locking

/// A lock that a thread takes twice.
enum SelfLock: Lesson {
  static let name = "self-lock"
  static let claim = "A thread that takes its own mutex again waits for itself for ever."
  static let today = "A POSIX mutex hangs silently; debug builds of the guards trap, and name the guard and the call."
  static let file = #fileID

  static func wrong() -> Outcome {
    let (ending, said) = Helper.run(.selfLock)
    let isNamed = said.contains("which it holds already")
    return Outcome(isFaulty: ending != .exited(0), "\(ending)\(isNamed ? ", and names the lock" : "")")
  }

  static func right() -> Outcome {
    let count = Guarded(Locked(0))
    // What needs the lock gets the value, and not the lock.
    func increase(_ count: inout Int) { count += 1 }
    let result = count.lock.withLock { count in
      increase(&count)
      return count
    }
    return Outcome(isFaulty: result != 1, "the count is \(result)")
  }

  /// The wrong form, in a process of its own.
  static func lockTwice() {
    let count = Locked(0)
    func increase() { count.withLock { $0 += 1 } }
    count.withLock { _ in increase() }
  }
}
