import Dispatch

/// A queue is no recursive lock.
enum CurrentQueue: Lesson {
  static let name = "current-queue"
  static let claim =
    "“Am I on my queue already?” does not make a queue a recursive lock: with a second queue in between, the "
    + "answer is no."
  static let today =
    "Dispatch traps at the very call that the question should have prevented."
  static let file = #fileID

  static func wrong() -> Outcome {
    let ending = Helper.run(.currentQueue).ending
    return Outcome(isFaulty: ending != .exited(0), "\(ending)")
  }

  static func right() -> Outcome {
    let queue = DispatchQueue(label: "A")
    let other = DispatchQueue(label: "B")
    var result = 0
    // What is on the queue gets the value, and does not come back to the queue for it.
    queue.sync {
      let value = 7
      other.sync { result = value }
    }
    return Outcome(isFaulty: result != 7, "the call returns")
  }

  /// The wrong form, in a process of its own.
  static func callBack() {
    let key = DispatchSpecificKey<String>()
    let queues = ["A", "B"].map { label in
      let queue = DispatchQueue(label: label)
      queue.setSpecific(key: key, value: label)
      return queue
    }
    func onA(_ body: () -> Void) {
      if DispatchQueue.getSpecific(key: key) == "A" { body() } else { queues[0].sync(execute: body) }
    }
    onA { onA {} }  // the question helps here
    onA { queues[1].sync { onA {} } }  // and not here
  }
}
