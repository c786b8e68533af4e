import Locking

/// A cache that keeps what was used last.
enum LRUUnderAReadLock: Lesson {
  static let name = "lru-under-a-read-lock"
  static let claim =
    "An LRU cache writes at every read, because it moves what was read to the front: a read lock does not guard "
    + "it."
  static let today =
    "`read` of a guard gives an immutable value, so that the compiler refuses it unless a class gets around it, "
    + "as here."
  static let file = #fileID

  /// The names in the cache, the one used last first. A class, so that `read` can change it.
  private final class Order: Sendable {
    let names = Locked(["a", "b", "c"])
  }

  static func wrong() -> Outcome {
    let order = Order()
    let cache = Guarded(ReaderPreferringLocked(order))
    let (hasRead, mayWrite) = (Gate(), Gate())
    // Both are in. The first has read the order when the second one changes it.
    let first = Player("reader of c") {
      cache.lock.read { _ in
        let before = order.names.withLock { $0 }
        hasRead.open()
        mayWrite.wait()
        order.names.withLock { $0 = ["c"] + before.filter { $0 != "c" } }
      }
    }
    let second = Player("reader of b") {
      hasRead.wait()
      cache.lock.read { _ in order.names.withLock { $0 = ["b"] + $0.filter { $0 != "b" } } }
      mayWrite.open()
    }
    for player in [first, second] { player.end.wait() }
    return outcome(order.names.withLock { $0 })
  }

  static func right() -> Outcome {
    let cache = Guarded(Locked(["a", "b", "c"]))
    let hasRead = Gate()
    let second = Player("reader of b") {
      hasRead.wait()
      cache.lock.write { $0 = ["b"] + $0.filter { $0 != "b" } }
    }
    cache.lock.write { names in
      hasRead.open()  // the second one waits for the mutex, and so cannot come in between
      names = ["c"] + names.filter { $0 != "c" }
    }
    second.end.wait()
    return outcome(cache.lock.read { $0 })
  }

  private static func outcome(_ names: [String]) -> Outcome {
    Outcome(isFaulty: names.firstIndex(of: "b") == 2, "used last, first: \(names.joined(separator: " "))")
  }
}
