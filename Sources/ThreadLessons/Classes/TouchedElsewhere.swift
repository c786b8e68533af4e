import Locking

/// A value that belongs to one thread.
enum TouchedElsewhere: Lesson {
  static let name = "touched-elsewhere"
  static let claim = "“Only the main thread calls this” is a comment, until another thread calls it and nobody notices."
  static let today = "`Confined` traps at the access and names both threads; `@MainActor` lets the compiler refuse it."
  static let file = #fileID

  private final class Title: @unchecked Sendable {  // “only the main thread calls this”
    var text = ""
  }

  static func wrong() -> Outcome {
    let title = Title()
    title.text = "mine"
    Player("other") { title.text = "theirs" }.end.wait()
    return outcome(isNoticed: title.text == "mine")
  }

  static func right() -> Outcome {
    let said = Helper.run(.touchElsewhere).said
    return outcome(isNoticed: said.contains("is touched by thread other") && said.contains("owner: thread main"))
  }

  /// The right form. It runs in a process of its own, which the trap ends.
  static func touchConfined() {
    let title = Reference()
    title.text.withValue { $0 = "mine" }
    Player("other") { title.text.withValue { $0 = "theirs" } }.end.wait()
  }

  private final class Reference: Sendable {
    let text = Confined("")
  }

  private static func outcome(isNoticed: Bool) -> Outcome {
    Outcome(
      isFaulty: !isNoticed, isNoticed ? "it traps, and names both threads" : "another thread changes it unnoticed")
  }
}
