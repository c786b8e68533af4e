import Caching
import Locking

/// A cache that threads share.
protocol SharedCache: AnyObject, Sendable {
  func find(_ key: Int) -> Int?
  func insert(_ value: Int, _ key: Int)
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
