import Locking
import Synchronization

/// A count of answers that two closures change.
enum CountWithoutALock: Lesson {
  static let name = "count-without-a-lock"
  static let claim =
    "Two closures that count answers without a lock may both count one, and the next step never begins."
  static let today =
    "Swift 6 refuses the shared variable; this program's is atomic, and reading and writing are two steps all the "
    + "same."
  static let file = #fileID

  static func wrong() -> Outcome {
    let (answers, next, hasRead) = (Answers(), Gate(), [Gate(), Gate()])
    _ = Threads.values([0, 1]) { number in
      let before = answers.count.load(ordering: .relaxed)
      hasRead[number].open()
      hasRead[1 - number].wait()
      answers.count.store(before + 1, ordering: .relaxed)
      if before + 1 == 2 { next.open() }
    }
    return outcome(next.wait(seconds: 0))
  }

  private final class Answers: Sendable {
    let count = Atomic(0)
  }

  static func right() -> Outcome {
    let (count, next) = (Guarded(Locked(0)), Gate())
    _ = Threads.values([0, 1]) { _ in
      let isLast = count.lock.write {
        $0 += 1
        return $0 == 2
      }
      if isLast { next.open() }
    }
    return outcome(next.wait())
  }

  private static func outcome(_ hasBegun: Bool) -> Outcome {
    Outcome(isFaulty: !hasBegun, "the next step \(hasBegun ? "begins" : "never begins")")
  }
}
