import Locking

/// Two accesses are under the lock, and not the step that they make together.
enum SetThenPrint: Lesson {
  static let name = "set-then-print"
  static let claim = "An atomic property does not make two accesses one: what was set may not be what is printed next."
  static let today = "True; Swift has no atomic properties, so what is one step must be one closure under the lock."
  static let file = #fileID

  static func wrong() -> Outcome {
    let title = Guarded(Locked(""))
    let (isSet, isOverwritten) = (Gate(), Gate())
    let other = Player("other") {
      isSet.wait()
      title.lock.write { $0 = "theirs" }
      isOverwritten.open()
    }
    title.lock.write { $0 = "mine" }
    isSet.open()
    isOverwritten.wait()
    let printed = title.lock.read { $0 }
    other.end.wait()
    return Outcome(isFaulty: printed != "mine", "set “mine”, printed “\(printed)”")
  }

  static func right() -> Outcome {
    let title = Guarded(Locked(""))
    let isSet = Gate()
    let other = Player("other") {
      isSet.wait()
      title.lock.write { $0 = "theirs" }
    }
    let printed = title.lock.write { title in
      title = "mine"
      isSet.open()
      return title
    }
    other.end.wait()
    return Outcome(isFaulty: printed != "mine", "set “mine”, printed “\(printed)”")
  }
}
