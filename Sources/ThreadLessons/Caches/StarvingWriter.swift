import Foundation
import Locking
import Synchronization

/// A writer among readers that overlap.
enum StarvingWriter: Lesson {
  static let name = "starving-writer"
  static let claim = "A readers-writer lock that prefers readers can keep a writer waiting for ever."
  static let today =
    "glibc's lock prefers readers by default (pthread_rwlockattr_setkind_np(3)); here over 1,000 readers pass."
  static let file = #fileID

  private final class State: Sendable {
    /// How many readers have been let in.
    let count = Atomic(0)
    let isIn = Atomic(false)
    let isOver = Atomic(false)
  }

  static func wrong() -> Outcome { readersBefore(Guarded(ReaderPreferringLocked(0)), enough: 1000, .certain) }

  static func right() -> Outcome { readersBefore(Guarded(WriterPreferringLocked(0)), enough: 1_000_000, .doubtful) }

  /// How many readers get in after a writer has asked. Each stays until the next one is in, so that the value is never
  /// without a reader as long as readers are let in.
  private static func readersBefore<Lock: Guard<Int> & ~Copyable>(
    _ value: Guarded<Lock>, enough: Int, _ patience: Patience
  ) -> Outcome {
    let (asks, state) = (Gate(), State())
    let baton = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    let readers = (0...1).map { number in
      Player("reader \(number)") {
        if number == 1 { baton[1].wait() }
        while !state.isOver.load(ordering: .acquiring) {
          value.lock.read { _ in
            baton[1 - number].signal()
            if state.count.add(1, ordering: .relaxed).newValue == 4 { asks.open() }
            // Where the other one is not let in, the writer is before it.
            _ = baton[number].wait(timeout: .now() + patience.seconds)
          }
        }
      }
    }
    asks.wait()
    let before = state.count.load(ordering: .relaxed)
    let writer = Player("writer") { value.lock.write { _ in state.isIn.store(true, ordering: .releasing) } }
    var overtaking = 0
    while !state.isIn.load(ordering: .acquiring) && overtaking < enough {
      overtaking = state.count.load(ordering: .relaxed) - before
      sched_yield()
    }
    let starves = !state.isIn.load(ordering: .acquiring)
    state.isOver.store(true, ordering: .releasing)
    for each in baton { each.signal() }
    for player in readers + [writer] { player.end.wait() }
    return Outcome(
      isFaulty: starves,
      starves ? "over \(enough) readers pass the writer, which still waits" : "the writer gets in among the readers")
  }
}
