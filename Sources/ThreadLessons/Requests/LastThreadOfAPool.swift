import Dispatch

/// A thread waits for work that needs this thread.
enum LastThreadOfAPool: Lesson {
  static let name = "last-thread-of-a-pool"
  static let claim =
    "Who waits at a semaphore on the last thread of a pool waits for ever, if the requests need that pool."
  static let today =
    "True of Dispatch, whose pool grows by a thread a second at most, and of Swift's tasks, whose pool never "
    + "grows."
  static let file = #fileID

  static func wrong() -> Outcome {
    let (pool, answered, end) = (DispatchQueue(label: "pool"), DispatchSemaphore(value: 0), Gate())
    let next = Gate()
    pool.async {
      for _ in 0..<2 { pool.async { answered.signal() } }  // their thread is the one that waits below
      let deadline = DispatchTime.now() + Patience.doubtful.seconds
      if (0..<2).allSatisfy({ _ in answered.wait(timeout: deadline) == .success }) { next.open() }
      end.open()
    }
    end.wait()
    return outcome(next.wait(seconds: 0))
  }

  static func right() -> Outcome {
    let (pool, group, next) = (DispatchQueue(label: "pool"), DispatchGroup(), Gate())
    pool.async {
      for _ in 0..<2 { pool.async(group: group) {} }
      group.notify(queue: pool) { next.open() }  // no thread waits
    }
    return outcome(next.wait())
  }

  private static func outcome(_ hasBegun: Bool) -> Outcome {
    Outcome(isFaulty: !hasBegun, "the next step \(hasBegun ? "begins" : "never begins")")
  }
}
