import Locking

/// A check, and then a use.
enum CheckThenUse: Lesson {
  static let name = "check-then-use"
  static let claim = "A property that is checked and then read again may be nil in between: capture it first."
  static let today = "`if let` captures, so that Swift's usual form is right; a second read of the property is not."
  static let file = #fileID

  static func wrong() -> Outcome {
    let delegate = Guarded(Locked<String?>("delegate"))
    let (isChecked, isGone) = (Gate(), Gate())
    let other = remover(of: delegate, after: isChecked, isGone)
    var told: String?
    if delegate.lock.read({ $0 }) != nil {
      isChecked.open()
      isGone.wait()
      told = delegate.lock.read { $0 }  // not nil a moment ago
    }
    other.end.wait()
    return outcome(told)
  }

  static func right() -> Outcome {
    let delegate = Guarded(Locked<String?>("delegate"))
    let (isChecked, isGone) = (Gate(), Gate())
    let other = remover(of: delegate, after: isChecked, isGone)
    var told: String?
    if let captured = delegate.lock.read({ $0 }) {
      isChecked.open()
      isGone.wait()
      told = captured
    }
    other.end.wait()
    return outcome(told)
  }

  private static func remover(of delegate: Guarded<Locked<String?>>, after gate: Gate, _ isGone: Gate) -> Player {
    Player("other") {
      gate.wait()
      delegate.lock.write { $0 = nil }
      isGone.open()
    }
  }

  private static func outcome(_ told: String?) -> Outcome {
    Outcome(isFaulty: told == nil, "after the check, \(told ?? "nil") is told")
  }
}
