import Foundation
import Locking
import Synchronization
import TestSupport
import Testing

@testable import Caching

@Suite(.timeLimit(.minutes(5))) struct LRUCacheTests {
  @Test func itWorksOverEachGuard() {
    check(Locked<LRUTable<Int, String>>.self)
    check(ReaderPreferringLocked<LRUTable<Int, String>>.self)
    check(WriterPreferringLocked<LRUTable<Int, String>>.self)
    check(SemaphoreLocked<LRUTable<Int, String>>.self)
    check(BarrierLocked<LRUTable<Int, String>>.self)
  }

  private func check<Guarded>(_: Guarded.Type) where Guarded: Guard<LRUTable<Int, String>> & ~Copyable {
    let cache = GuardedLRUCache<Int, String, Guarded>(CacheLimits(count: 2, cost: 10))
    for key in 1...3 { cache.insert("\(key)", for: key, cost: key) }
    #expect(cache[1] == nil && cache[2] == "2" && cache.peek(3) == "3")
    #expect(cache.latest().map(\.key) == [2, 3] && cache.count == 2 && cache.cost == 5)
    #expect(cache.latest(1).map(\.value) == ["2"])
    cache.remove(3)
    #expect(cache.peek(3) == nil && cache.cost == 2)
    cache.removeAll()
    #expect(cache.count == 0 && cache.cost == 0 && cache.latest().isEmpty)
    cache.insert("4", for: 4)
    #expect(cache[4] == "4")
    #expect(cache.counters == CacheCounters(hits: 2, misses: 1, evictions: 1))
  }

  // MARK: Which lock

  /// A readers-writer lock that counts how it is taken.
  private struct CountingLocked<Value>: Guard, ~Copyable {
    let guarded: WriterPreferringLocked<Value>
    let shared = Atomic(0)
    let exclusive = Atomic(0)

    init(guarding value: Value, file: StaticString, line: UInt) {
      guarded = WriterPreferringLocked(value, file: file, line: line)
    }

    borrowing func read<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
      shared.add(1, ordering: .relaxed)
      return try guarded.read(body)
    }

    borrowing func write<Result, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      exclusive.add(1, ordering: .relaxed)
      return try guarded.write(body)
    }
  }

  /// Why an ``LRUCache`` has a mutex: over a readers-writer lock, no two look-ups would run together either.
  @Test func eachLookUpWritesSoThatAReadersWriterLockWouldLetNobodyShare() {
    let cache = GuardedLRUCache<Int, Int, CountingLocked<LRUTable<Int, Int>>>(CacheLimits(count: 100))
    for key in 0..<100 { cache.insert(key, for: key) }
    let before = cache.table.exclusive.load(ordering: .relaxed)
    for number in 0..<1000 { #expect(cache[number % 150] == (number % 150 < 100 ? number % 150 : nil)) }
    let exclusive = cache.table.exclusive.load(ordering: .relaxed) - before
    let shared = cache.table.shared.load(ordering: .relaxed)
    print("1,000 look-ups took the guard \(exclusive) times alone and \(shared) times with others")
    #expect(exclusive == 1000 && shared == 0)
    for number in 0..<1000 { #expect(cache.peek(number % 100) == number % 100) }
    #expect(cache.table.shared.load(ordering: .relaxed) == 1000, "a peek changes nothing")
  }

  // MARK: Released outside the lock

  /// A value whose end uses the cache that it was in. Under the cache's lock, that would trap or wait for ever.
  private final class Caller: Sendable {
    let ended: @Sendable () -> Void

    init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }

    deinit { ended() }
  }

  @Test func valuesAreReleasedWhileTheLockIsFree() async throws {
    typealias Cache = LRUCache<Int, Caller>
    let ends = LockedBox(0)
    let time = LockedBox(ContinuousClock.now)
    let cache = Cache(CacheLimits(count: 3, cost: 100, age: .seconds(10))) { time.value }
    func insert(_ key: Int, cost: Int = 1) {
      let value = Caller { [weak cache] in
        _ = cache?.count
        _ = cache?[key]
        ends.change { $0 += 1 }
      }
      cache.insert(value, for: key, cost: cost)
    }
    func expectEnds(_ count: Int, _ what: Comment) {
      #expect(ends.value == count, what)
      ends.change { $0 = 0 }
    }
    for key in 1...4 { insert(key) }
    expectEnds(1, "evicted")
    insert(4)
    expectEnds(1, "replaced")
    insert(5, cost: 101)
    expectEnds(1, "not kept")
    cache.remove(4)
    expectEnds(1, "removed")
    cache.trim(toCost: 1)
    expectEnds(1, "trimmed")
    time.change { $0 += .seconds(11) }
    #expect(cache[3] == nil)
    expectEnds(1, "too old")
    insert(6)
    cache.removeAll()
    expectEnds(1, "all removed")
    insert(7)
    time.change { $0 += .seconds(11) }
    cache.removeAll(olderThan: .seconds(10))
    expectEnds(1, "old ones removed")
    #expect(cache.count == 0)
  }

  // MARK: In steps

  @Test func aLargeCacheIsEmptiedInStepsBetweenWhichOthersGetTheLock() {
    typealias Table = LRUTable<Int, Int>
    let cache = GuardedLRUCache<Int, Int, CountingLocked<Table>>(CacheLimits(count: 1000))
    for key in 0..<1000 { cache.insert(key, for: key) }
    func steps(_ body: () -> Void) -> Int {
      let before = cache.table.exclusive.load(ordering: .relaxed)
      body()
      return cache.table.exclusive.load(ordering: .relaxed) - before
    }
    // 500 entries in steps of 64, and one more step that finds nothing to do.
    #expect(steps { cache.trim(toCost: 500) } == 9)
    #expect(cache.latest().map(\.key) == (500..<1000).reversed())
    #expect(steps { cache.trim(toCost: 0) } == 9)
    #expect(cache.count == 0)
  }

  @Test func onlyOldEntriesAreRemovedWhereverTheyAre() {
    let time = LockedBox(ContinuousClock.now)
    let cache = LRUCache<Int, Int>(CacheLimits(count: 1000)) { time.value }
    for key in 0..<300 {
      cache.insert(key, for: key)
      if key % 100 == 99 { time.change { $0 += .seconds(10) } }
    }
    for key in 0..<100 { #expect(cache[key] == key) }
    cache.insert(-1, for: 50)
    cache.removeAll(olderThan: .seconds(20))
    #expect(Set(cache.latest().map(\.key)) == Set([50] + (100..<300)), "use does not make an entry younger")
    cache.removeAll(olderThan: .seconds(0))
    #expect(cache.latest().map(\.key) == [50])
  }

  // MARK: Many threads

  /// Each thread has keys of its own in one cache, so that it knows what it must find: what it has inserted last, or
  /// nothing.
  @Test func eachThreadFindsItsLastValueOrNone() async throws {
    let (threads, keys) = (4, 64)
    let cache = LRUCache<Int, Int>(CacheLimits(count: threads * keys / 2, cost: threads * keys))
    let lookUps = LockedBox(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<threads {
        group.addTask {
          try await onThread {
            var (random, last, own) = (SplitMix(seed: UInt64(thread)), [Int?](repeating: nil, count: keys), 0)
            for number in 0..<RandomOperations.count / threads {
              let bits = random.next()
              let (place, kind) = (Int(bits % UInt64(keys)), bits >> 16 & 4095)
              let key = thread * keys + place
              switch kind {
              case 0..<2000:
                own += 1
                guard let value = cache[key] else { continue }
                guard value == last[place] else { throw Stale(key: key, value: value, expected: last[place]) }
              case 2000..<4000:
                cache.insert(number, for: key, cost: Int(bits >> 32 & 7))
                last[place] = number
              case 4000..<4080:
                cache.remove(key)
                last[place] = nil
              case 4080: cache.trim(toCost: 100)
              case 4081: cache.removeAll(olderThan: .milliseconds(1))
              default: _ = cache.latest(3)
              }
            }
            lookUps.change { [own] in $0 += own }
          }
        }
      }
      try await group.waitForAll()
    }
    let counters = cache.counters
    #expect(counters.hits + counters.misses == lookUps.value)
    #expect(counters.hits > 0 && counters.misses > 0 && counters.evictions > 0)
    #expect(cache.latest().reduce(0) { $0 + $1.cost } == cache.cost && cache.latest().count == cache.count)
  }

  private struct Stale: Error {
    let key, value: Int
    let expected: Int?
  }
}
