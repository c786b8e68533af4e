import Locking

/// A cache for many threads. If there is no room, it drops what has not been used for the longest time.
///
/// Its lock is a mutex. Each look-up changes the order of use, so that over a readers-writer lock each would be a writer,
/// and nobody would share it (docs/lock-study.md).
public typealias LRUCache<Key: Hashable & Sendable, Value: Sendable> =
  GuardedLRUCache<Key, Value, Locked<LRUTable<Key, Value>>>

/// An ``LRUCache`` over any guard.
///
/// *Concurrency*: every member may be called from any thread. Keys are hashed and compared under the lock. Values and keys
/// are never released under it: their `deinit` may take long, and may use the cache.
public final class GuardedLRUCache<Key: Hashable & Sendable, Value: Sendable, Guarded>: Sendable
where Guarded: Guard<LRUTable<Key, Value>> & ~Copyable {
  public typealias Table = LRUTable<Key, Value>
  /// Tells when values are inserted and looked up.
  public typealias Clock = @Sendable () -> ContinuousClock.Instant

  /// Guarded by its lock.
  @usableFromInline let table: Guarded
  @usableFromInline let clock: Clock
  @usableFromInline let hasAge: Bool

  /// How many entries are removed while the lock is held once.
  static var step: Int { 64 }

  /// - Parameters:
  ///   - file: where the cache is made, as for a ``Guard``.
  ///   - line: the line in that file.
  public init(
    _ limits: CacheLimits, clock: @escaping Clock = { .now }, file: StaticString = #fileID, line: UInt = #line
  ) {
    table = Guarded(LRUTable(limits), file: file, line: line)
    (self.clock, hasAge) = (clock, limits.age != nil)
  }

  // MARK: Look-ups

  /// The value of a key, which is then the last one that was used. Counts as a hit or a miss.
  @inlinable public subscript(key: Key) -> Value? {
    let now = hasAge ? clock() : nil
    var dropped: Table.Entry?
    return table.write { $0.use(key, at: now, dropped: &dropped) }
  }

  /// The value of a key. It counts neither as used nor as looked up, so readers share the guard, if that lets them.
  public func peek(_ key: Key) -> Value? {
    let now = hasAge ? clock() : nil
    return table.read { $0.peek(key, at: now) }
  }

  /// The entries that were used last, latest first.
  public func latest(_ most: Int = .max) -> [Table.Entry] { table.read { $0.latest(most) } }

  public var counters: CacheCounters { table.read { $0.counters } }
  public var count: Int { table.read { $0.count } }
  /// The sum of the costs of all entries.
  public var cost: Int { table.read { $0.cost } }

  // MARK: Changes

  /// Keeps a value as the last one that was used, instead of an earlier one of its key. A value that costs more than the
  /// limit is not kept.
  ///
  /// - Parameter cost: at least 0.
  @inlinable public func insert(_ value: Value, for key: Key, cost: Int = 1) {
    let now = clock()
    _ = table.write { $0.insert(value, for: key, cost: cost, at: now) }
  }

  public func remove(_ key: Key) { _ = table.write { $0.remove(key) } }

  /// Removes everything, while the lock is held once.
  public func removeAll() { _ = table.write { $0.removeAll() } }

  /// Removes entries, those first that have not been used for the longest time, until the rest costs no more than this.
  ///
  /// The lock is released after a number of entries, so that other threads do not wait for long.
  public func trim(toCost limit: Int) {
    while !table.write({ $0.removeOldest(toCost: limit, most: Self.step) }).isEmpty {}
  }

  /// Removes the entries that were inserted longer ago than this. The lock is released in between, as in
  /// ``trim(toCost:)``.
  ///
  /// *Complexity*: O(n) in the number of entries.
  public func removeAll(olderThan age: Duration) {
    let time = clock() - age
    var part = 0..<Self.step
    while table.write({ $0.removeAll(insertedBefore: time, in: part) }) != nil {
      part = part.upperBound..<part.upperBound + Self.step
    }
  }
}
