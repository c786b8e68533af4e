import Dispatch
import Locking

/// A writer need not wait for the readers of a concurrent queue.
enum WaitingForABarrier: Lesson {
  static let name = "waiting-for-a-barrier"
  static let claim =
    "On an own concurrent queue, reads are `sync` and writes `async` barriers: a `sync` barrier makes the writer "
    + "wait for every reader."
  static let today =
    "True, at a price: each `async` allocates a block, and all later reads wait until a thread of the pool has "
    + "run it."
  static let file = #fileID

  static func wrong() -> Outcome {
    let queue = DispatchQueue(label: "cache", attributes: .concurrent)
    return writer(.doubtful, read: { body in queue.sync(execute: body) }, write: { queue.sync(flags: .barrier) {} })
  }

  static func right() -> Outcome {
    let cache = Guarded(BarrierLocked(0))
    return writer(
      .certain, read: { body in cache.lock.read { _ in body() } }, write: { cache.lock.writeAsync { $0 += 1 } })
  }

  /// Whether a write returns while a reader is in.
  private static func writer(
    _ patience: Patience, read: (() -> Void) -> Void, write: @escaping @Sendable () -> Void
  ) -> Outcome {
    let returns = Meanwhile.isReached(patience, whileIn: read) { hasReturned in
      write()
      hasReturned.open()
    }
    return Outcome(isFaulty: !returns, "the writer \(returns ? "goes on" : "waits") while a reader reads")
  }
}
