import Caching
import Locking

/// A cache that threads share.
protocol SharedCache: AnyObject, Sendable {
  func find(_ key: Int) -> Int?
  func insert(_ value: Int, _ key: Int)
}

extension SharedCache {
  /// Accesses random keys until `isOver`.
  ///
  /// - Returns: how often.
  func access(until isOver: () -> Bool, keys: Int, reads: Int, seed: UInt64) -> Int {
    var (random, count) = (seed &* 0x9E37_79B9_7F4A_7C15, 0)
    while !isOver() {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      let key = Int(random >> 40) % keys
      if Int(random & 0xFFFF) % 100 < reads {
        if let value = find(key) { precondition(value == key, "a value belongs to its key") }
      } else {
        insert(key, key)
      }
      count += 1
    }
    return count
  }
}

/// A dictionary under a mutex: without limits, and without an order.
final class DictionaryCache: SharedCache {
  private let values = Locked<[Int: Int]>([:])

  func find(_ key: Int) -> Int? { values.withLock { $0[key] } }
  func insert(_ value: Int, _ key: Int) { values.withLock { $0[key] = value } }
}

final class LRU<Guarded: Guard<LRUTable<Int, Int>> & ~Copyable>: SharedCache {
  private let cache: GuardedLRUCache<Int, Int, Guarded>

  init(room: Int) { cache = GuardedLRUCache(CacheLimits(count: room)) }

  func find(_ key: Int) -> Int? { cache[key] }
  func insert(_ value: Int, _ key: Int) { cache.insert(value, for: key) }
}
