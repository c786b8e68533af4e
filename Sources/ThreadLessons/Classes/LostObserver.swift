import Locking

/// A set of observers to which two threads add.
enum LostObserver: Lesson {
  static let name = "lost-observer"
  static let claim = "An immutable set that is read, extended and stored loses what another thread added in between."
  static let today =
    "True of atomic properties; under a lock, reading and storing are one step (`write { $0.insert(…) }`)."
  static let file = #fileID

  static func wrong() -> Outcome {
    let observers = Guarded(Locked<Set<String>>([]))
    let hasRead = [Gate(), Gate()]
    return outcome(observers) { number in
      let extended = observers.lock.read { $0 }.union(["observer \(number)"])
      hasRead[number].open()
      hasRead[1 - number].wait()
      observers.lock.write { $0 = extended }
    }
  }

  static func right() -> Outcome {
    let observers = Guarded(Locked<Set<String>>([]))
    return outcome(observers) { number in observers.lock.write { _ = $0.insert("observer \(number)") } }
  }

  private static func outcome(
    _ observers: Guarded<Locked<Set<String>>>, add: @escaping @Sendable (Int) -> Void
  ) -> Outcome {
    let players = (0...1).map { number in Player("adds \(number)") { add(number) } }
    for player in players { player.end.wait() }
    let count = observers.lock.read { $0.count }
    return Outcome(isFaulty: count < 2, "\(count) of 2 observers \(count == 1 ? "is" : "are") left")
  }
}
