/// A dictionary with limits. If there is no room, it drops what has not been used for the longest time.
///
/// Its entries are also a list in the order of their use. The list's links are indices into an array, so that no entry
/// refers to another one, and a copy of the table is as independent as that of a dictionary.
///
/// What is dropped is returned and never just released. A user that holds a lock can so release it after unlocking.
///
/// *Concurrency*: a value, for one thread at a time. ``LRUCache`` is one for many threads.
///
/// *Complexity*: O(1) for each member, unless it says otherwise.
public struct LRUTable<Key: Hashable, Value> {
  public struct Entry {
    public let key: Key
    public let value: Value
    public let cost: Int
    /// When the value was inserted.
    public let time: ContinuousClock.Instant

    @inlinable init(_ key: Key, _ value: Value, cost: Int, time: ContinuousClock.Instant) {
      (self.key, self.value, self.cost, self.time) = (key, value, cost, time)
    }
  }

  @usableFromInline struct Slot {
    /// Nil in a free slot.
    @usableFromInline var entry: Entry?
    /// The slot that was used next after this one, or the next free slot; -1 if there is none.
    @usableFromInline var newer: Int
    /// The slot that was used last before this one; -1 if there is none.
    @usableFromInline var older: Int

    @inlinable init(_ entry: Entry) { (self.entry, newer, older) = (entry, -1, -1) }
  }

  public let limits: CacheLimits
  /// The sum of the costs of all entries.
  @inlinable public var cost: Int { sum }
  @inlinable public var counters: CacheCounters { counted }
  @usableFromInline var sum = 0
  @usableFromInline var counted = CacheCounters()
  /// Where the entry of a key is in `slots`.
  @usableFromInline var places: [Key: Int] = [:]
  @usableFromInline var slots: [Slot] = []
  @usableFromInline var newest = -1
  @usableFromInline var oldest = -1
  /// The first free slot.
  @usableFromInline var free = -1

  public init(_ limits: CacheLimits) { self.limits = limits }

  @inlinable public var count: Int { places.count }

  // MARK: Look-ups

  /// The value of a key, which is then the last one that was used. Counts as a hit or a miss.
  ///
  /// - Parameters:
  ///   - now: what entries must not be too old at. Needed only if there is a limit of age.
  ///   - dropped: gets the entry if it is too old.
  @inlinable public mutating func use(
    _ key: Key, at now: ContinuousClock.Instant? = nil, dropped: inout Entry?
  ) -> Value? {
    guard let place = places[key] else {
      counted.misses += 1
      return nil
    }
    if let now, isTooOld(slots[place].entry, at: now) {
      counted.misses += 1
      dropped = takeOut(place)
      return nil
    }
    counted.hits += 1
    if place != newest {
      unlink(place)
      linkAsNewest(place)
    }
    return slots[place].entry?.value
  }

  /// ``use(_:at:dropped:)``, for tables without a limit of age.
  @inlinable public mutating func use(_ key: Key) -> Value? {
    var dropped: Entry?
    return use(key, dropped: &dropped)
  }

  /// The value of a key. It counts neither as used nor as looked up, so the table is not changed.
  @inlinable public func peek(_ key: Key, at now: ContinuousClock.Instant? = nil) -> Value? {
    guard let place = places[key] else { return nil }
    if let now, isTooOld(slots[place].entry, at: now) { return nil }
    return slots[place].entry?.value
  }

  /// The entries that were used last, latest first.
  ///
  /// *Complexity*: O(n) in their number.
  public func latest(_ most: Int = .max) -> [Entry] {
    sequence(state: newest) { place -> Entry? in
      guard place >= 0 else { return nil }
      defer { place = slots[place].older }
      return slots[place].entry
    }.prefix(most).map { $0 }
  }

  // MARK: Changes

  /// Keeps a value as the last one that was used, instead of an earlier one of its key. A value that costs more than the
  /// limit is not kept.
  ///
  /// - Parameters:
  ///   - cost: at least 0. The sum of all costs must fit into an `Int`.
  ///   - now: from when on its age counts.
  /// - Returns: the entries that are not in the table any more, and the new one if it is not kept.
  ///
  /// *Complexity*: O(n) in the number of the entries that it returns.
  @inlinable public mutating func insert(
    _ value: Value, for key: Key, cost: Int = 1, at now: ContinuousClock.Instant
  ) -> [Entry] {
    precondition(cost >= 0, "a cost below zero would make room")
    let new = Entry(key, value, cost: cost, time: now)
    guard cost <= limits.cost else {
      return (places[key].flatMap { takeOut($0) }.map { [$0] } ?? []) + [new]
    }
    if let place = places[key], let replaced = slots[place].entry {
      // The key stays, because the dictionary has it too: it would be released here if it were replaced.
      slots[place].entry = Entry(replaced.key, value, cost: cost, time: now)
      sum += cost - replaced.cost
      if place != newest {
        unlink(place)
        linkAsNewest(place)
      }
      return [replaced] + makeRoom()
    }
    let place = free
    if place >= 0 {
      free = slots[place].newer
      slots[place] = Slot(new)
    } else {
      slots.append(Slot(new))
    }
    let own = place >= 0 ? place : slots.count - 1
    places[key] = own
    linkAsNewest(own)
    sum += cost
    return makeRoom()
  }

  /// - Returns: the entry that was removed; nil if there was none.
  public mutating func remove(_ key: Key) -> Entry? { places[key].flatMap { takeOut($0) } }

  /// Removes everything.
  ///
  /// - Returns: the table as it was.
  public mutating func removeAll() -> LRUTable {
    let all = self
    (places, slots, newest, oldest, free, sum) = ([:], [], -1, -1, -1, 0)
    return all
  }

  /// Removes entries, those first that have not been used for the longest time, until the rest costs no more than this.
  ///
  /// - Parameter most: not more entries than these, even if the rest costs more.
  public mutating func removeOldest(toCost limit: Int, most: Int = .max) -> [Entry] {
    var removed: [Entry] = []
    while sum > limit, removed.count < most, let entry = takeOut(oldest) { removed.append(entry) }
    if places.isEmpty { (places, slots, free) = ([:], [], -1) }
    return removed
  }

  /// Removes those entries that were inserted before `time`, but only among those in the slots `part`. So a user can go
  /// through a large table in steps.
  ///
  /// - Returns: the removed entries; nil if the table has no such slots.
  ///
  /// *Complexity*: O(n) in the number of slots.
  mutating func removeAll(insertedBefore time: ContinuousClock.Instant, in part: Range<Int>) -> [Entry]? {
    guard part.lowerBound < slots.count else { return nil }
    return part.clamped(to: slots.indices).compactMap { place in
      guard let entry = slots[place].entry, entry.time < time else { return nil }
      return takeOut(place)
    }
  }

  // MARK: Parts

  @inlinable func isTooOld(_ entry: Entry?, at now: ContinuousClock.Instant) -> Bool {
    guard let entry, let age = limits.age else { return false }
    return now - entry.time > age
  }

  @inlinable mutating func makeRoom() -> [Entry] {
    guard count > limits.count || cost > limits.cost else { return [] }
    var evicted: [Entry] = []
    while count > limits.count || cost > limits.cost, let entry = takeOut(oldest) { evicted.append(entry) }
    counted.evictions += evicted.count
    return evicted
  }

  /// Removes the entry in a slot, which is free then.
  @inlinable mutating func takeOut(_ place: Int) -> Entry? {
    guard place >= 0, let entry = slots[place].entry else { return nil }
    unlink(place)
    slots[place].entry = nil
    slots[place].newer = free
    free = place
    places[entry.key] = nil
    sum -= entry.cost
    return entry
  }

  @inlinable mutating func unlink(_ place: Int) {
    let (newer, older) = (slots[place].newer, slots[place].older)
    if newer >= 0 { slots[newer].older = older } else { newest = older }
    if older >= 0 { slots[older].newer = newer } else { oldest = newer }
  }

  @inlinable mutating func linkAsNewest(_ place: Int) {
    (slots[place].newer, slots[place].older) = (-1, newest)
    if newest >= 0 { slots[newest].newer = place } else { oldest = place }
    newest = place
  }
}

extension LRUTable: Sendable where Key: Sendable, Value: Sendable {}
extension LRUTable.Entry: Sendable where Key: Sendable, Value: Sendable {}
extension LRUTable.Slot: Sendable where Key: Sendable, Value: Sendable {}
