import Dispatch

/// A queue that waits for itself.
enum SyncOntoItself: Lesson {
  static let name = "sync-onto-itself"
  static let claim = "`sync` onto the queue that runs now waits for itself."
  static let today =
    "Dispatch on Linux traps for a serial queue; `drain` of this project's queue traps in its own operations, "
    + "too."
  static let file = #fileID

  static func wrong() -> Outcome {
    let ending = Helper.run(.syncOntoItself).ending
    return Outcome(isFaulty: ending != .exited(0), "\(ending)")
  }

  static func right() -> Outcome {
    let queue = DispatchQueue(label: "documents")
    var count = 0
    // What is on the queue calls the part that does not go there again.
    func add() { count += 1 }
    queue.sync {
      add()
      add()
    }
    return Outcome(isFaulty: count != 2, "the call returns")
  }

  /// The wrong form, in a process of its own.
  static func syncTwice() {
    let queue = DispatchQueue(label: "documents")
    queue.sync { queue.sync {} }
  }
}
