import Dispatch
import Locking

/// A cache on a queue, while the pool of threads is busy.
enum StalledReads: Lesson {
  static let name = "stalled-reads"
  static let claim =
    "A `sync` read waits for the `async` updates before it, and these wait for a thread of a pool that others "
    + "keep busy."
  static let today =
    "Dispatch's pool grows by a thread a second while its threads block, so that a read may wait for seconds; a "
    + "lock needs no thread."
  static let file = #fileID

  static func wrong() -> Outcome {
    let cache = Guarded(BarrierLocked(["a": 1]))
    return read(.doubtful, update: { cache.lock.writeAsync { $0["b"] = 2 } }, read: { cache.lock.read { $0["a"] } })
  }

  static func right() -> Outcome {
    let cache = Guarded(Locked(["a": 1]))
    return read(.certain, update: { cache.lock.write { $0["b"] = 2 } }, read: { cache.lock.read { $0["a"] } })
  }

  /// Whether a read returns while every thread of the pool is blocked.
  private static func read(
    _ patience: Patience, update: () -> Void, read: @escaping @Sendable () -> Int?
  ) -> Outcome {
    let (end, hasRead, group) = (Gate(), Gate(), DispatchGroup())
    // The pool grows by a thread a second while these block. So many take longer than the lesson.
    for _ in 0..<200 { DispatchQueue.global().async(group: group) { _ = end.wait() } }
    update()
    let reader = Player("reader") { if read() == 1 { hasRead.open() } }
    let isRead = hasRead.wait(patience)
    end.open()
    reader.end.wait()
    group.wait()
    return Outcome(isFaulty: !isRead, "a read \(isRead ? "returns" : "waits") while the pool is busy")
  }
}
