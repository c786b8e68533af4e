import Locking
import Synchronization

/// One method of one object, on four threads.
enum FourThreadsOneMethod: Lesson {
  static let name = "four-threads-one-method"
  static let claim =
    "A method that reads, computes and stores gives wrong results on several threads; a lock around it makes it "
    + "right, and serial."
  static let today =
    "Swift 6 refuses to share such an object; where that is switched off, the thread sanitizer names the race "
    + "(`make lessons`)."
  static let file = #fileID

  /// A counter without a lock. It is atomic here, so that this program is defined; reading and storing are two steps.
  private final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }

    func increase(between: () -> Void) {
      let before = count.load(ordering: .relaxed)
      between()
      count.store(before + 1, ordering: .relaxed)
    }
  }

  static func wrong() -> Outcome {
    let (counter, haveRead, allHaveRead) = (Counter(), Guarded(Locked(0)), Gate())
    _ = Threads.values(Array(1...4)) { _ in
      counter.increase {
        if haveRead.lock.write({
          $0 += 1
          return $0
        }) == 4 {
          allHaveRead.open()
        }
        allHaveRead.wait()
      }
    }
    return outcome(counter.value)
  }

  static func right() -> Outcome {
    let counter = Guarded(Locked(0))
    _ = Threads.values(Array(1...4)) { _ in counter.lock.write { $0 += 1 } }
    return outcome(counter.lock.read { $0 })
  }

  /// The right form, in a process of its own.
  static func countWithLock() { _ = right() }

  private static func outcome(_ count: Int) -> Outcome {
    Outcome(isFaulty: count != 4, "4 threads count to \(count)")
  }

  private final class Unguarded: @unchecked Sendable {  // that is the fault
    var count = 0
    func increase() { count += 1 }
  }

  /// The wrong form as it is written, in a process of its own, which the thread sanitizer watches.
  static func race() {
    let counter = Unguarded()
    _ = Threads.values(Array(1...4)) { _ in for _ in 0..<1000 { counter.increase() } }
  }
}
