import Foundation
import Locking
import Measuring
import Synchronization

/// Threads that access a cache for a while.
struct Load {
  let keys: Int
  /// Of a hundred accesses.
  let reads: Int
  let threads: Int
  let milliseconds: Int

  /// Accesses in a second, to random keys, all of which were inserted before.
  func measure(_ cache: some SharedCache) -> Double {
    for key in 0..<keys { cache.insert(key, key) }
    let isOver = Flag()
    let total = Locked(0)
    let start = nanoseconds()
    let clock: @Sendable () -> Void = { [milliseconds] in
      Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
      isOver.value.store(true, ordering: .relaxed)
    }
    let bodies = (1...threads).map { number -> @Sendable () -> Void in
      {
        let count = access(cache, until: isOver, seed: UInt64(number))
        total.withLock { $0 += count }
      }
    }
    together([clock] + bodies)
    return total.withLock { Double($0) } / (Double(nanoseconds() - start) / 1e9)
  }

  /// - Returns: how often the cache was accessed.
  private func access(_ cache: some SharedCache, until isOver: Flag, seed: UInt64) -> Int {
    var (random, count) = (seed &* 0x9E37_79B9_7F4A_7C15, 0)
    while !isOver.value.load(ordering: .relaxed) {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      let key = Int(random >> 40) % keys
      if Int(random & 0xFFFF) % 100 < reads {
        if let value = cache.find(key) { precondition(value == key, "a value belongs to its key") }
      } else {
        cache.insert(key, key)
      }
      count += 1
    }
    return count
  }

  private final class Flag: Sendable {
    let value = Atomic(false)
  }
}
