import Dispatch

/// A queue as a recursive lock.
enum CurrentQueue: Lesson {
  static let name = "current-queue"
  static let claim =
    "“Am I on my queue already?” does not make a queue a recursive lock: with a second queue in between, the "
    + "answer is no."
  static let today =
    "Dispatch traps (“called on queue already owned by current thread”), where the question was meant to prevent "
    + "it."
  static let file = #filePath

  static func wrong() -> Outcome {
    let ending = Helper.run(.currentQueue)
    return Outcome(
      isFaulty: ending.status != 0 || ending.isBySignal,
      ending.isBySignal ? "the process ends with signal \(ending.status ?? 9)" : "the call returns")
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
