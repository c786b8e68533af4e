import Locking

/// An object that exists once.
enum MadeTwice: Lesson {
  static let name = "made-twice"
  static let claim = "“If there is none, make one” makes two on two threads."
  static let today = "`static let` is made once, by `swift_once`; a check under a lock is right, too."
  static let file = #fileID

  private final class Manager: Sendable {
    static let shared = Manager()
  }

  static func wrong() -> Outcome {
    let (shared, hasChecked) = (Guarded(Locked<Manager?>(nil)), [Gate(), Gate()])
    return outcome { number in
      if let there = shared.lock.read({ $0 }) { return there }
      hasChecked[number].open()
      hasChecked[1 - number].wait()
      let made = Manager()
      shared.lock.write { $0 = made }
      return made
    }
  }

  static func right() -> Outcome { outcome { _ in Manager.shared } }

  private static func outcome(_ manager: @escaping @Sendable (Int) -> Manager) -> Outcome {
    let count = Set(Threads.values([0, 1], manager).map { ObjectIdentifier($0) }).count
    return Outcome(isFaulty: count != 1, "two threads have \(count == 1 ? "one manager" : "a manager each")")
  }
}
