/// How much a cache holds at most. What has not been used for the longest time goes first.
public struct CacheLimits: Sendable {
  /// Entries.
  public var count: Int
  /// The sum of what the entries cost. The unit is the user's, mostly bytes.
  public var cost: Int
  /// How long after its insertion an entry is found; nil means for ever.
  public var age: Duration?

  /// - Parameter count: at least 1.
  public init(count: Int, cost: Int = .max, age: Duration? = nil) {
    precondition(count >= 1 && cost >= 0, "a cache has room")
    (self.count, self.cost, self.age) = (count, cost, age)
  }
}

/// How often the entries of a cache were looked for, and what became of them.
public struct CacheCounters: Sendable, Equatable {
  /// Look-ups that have found an entry.
  public var hits: Int
  /// Look-ups that have found none, or one that was too old.
  public var misses: Int
  /// Entries that had to go for others. Those that were replaced, removed or too old do not count.
  public var evictions: Int

  @inlinable public init(hits: Int = 0, misses: Int = 0, evictions: Int = 0) {
    (self.hits, self.misses, self.evictions) = (hits, misses, evictions)
  }
}
