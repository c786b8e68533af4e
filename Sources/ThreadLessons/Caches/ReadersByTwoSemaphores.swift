import Dispatch
import Locking
import Synchronization

/// Readers and writers by two semaphores and a count.
enum ReadersByTwoSemaphores: Lesson {
  static let name = "readers-by-two-semaphores"
  static let claim =
    "Who counts readers must do so under a semaphore of its own: two readers that count at once are both the "
    + "first."
  static let today = "`SemaphoreLocked` is the form of Courtois, Heymans and Parnas (1971); it prefers readers."
  static let file = #fileID

  static func wrong() -> Outcome {
    let readers = Atomic(0)
    let free = DispatchSemaphore(value: 1)
    // Both read the count before one writes it.
    let (first, second) = (readers.load(ordering: .relaxed) + 1, readers.load(ordering: .relaxed) + 1)
    for count in [first, second] { readers.store(count, ordering: .relaxed) }
    // The first reader takes the value for all. The second one would wait for it.
    let areIn = [first, second].map { $0 > 1 || free.wait(timeout: .now()) == .success }
    if areIn[0] { free.signal() }
    return Outcome(isFaulty: areIn.contains(false), "\(areIn.count { $0 }) of 2 readers are in")
  }

  static func right() -> Outcome {
    let (value, firstIsIn, secondIsIn) = (Guarded(SemaphoreLocked(1)), Gate(), Gate())
    let second = Player("second reader") {
      firstIsIn.wait()
      value.lock.read { _ in secondIsIn.open() }
    }
    let isIn = value.lock.read { _ in
      firstIsIn.open()
      return secondIsIn.wait()
    }
    second.end.wait()
    return Outcome(isFaulty: !isIn, "\(isIn ? 2 : 1) of 2 readers are in")
  }
}
