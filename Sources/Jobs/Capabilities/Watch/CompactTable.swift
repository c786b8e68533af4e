/// A table of very many keys and values of 64 bits: 16 bytes for each place, of which an eighth or more is empty.
///
/// It takes no more than ``limit`` entries: each further one replaces another, which chance chooses. So of a few more files
/// than that, which are looked up in a row again and again, most are found. If the oldest made room, none would be.
///
/// *Complexity*: a few neighbouring places for each call; now and then all places for an insertion, while the table grows.
struct CompactTable {
  private struct Entry {
    /// The hash of what the entry is for; 0 in an empty place.
    var key: UInt64
    var value: UInt64
  }

  private static let empty = Entry(key: 0, value: 0)

  /// The most entries.
  let limit: Int
  private(set) var count = 0
  /// A power of two. An entry is at the place that its key tells, or at a later one, with no empty place between.
  private var entries = ContiguousArray(repeating: empty, count: 64)

  init(limit: Int) { self.limit = limit }

  /// The value of a key.
  ///
  /// - Parameter hash: a hash whose low bits are evenly distributed.
  subscript(hash: UInt64) -> UInt64? {
    let place = place(of: Self.key(hash))
    return entries[place].key == 0 ? nil : entries[place].value
  }

  /// Adds an entry, or gives one another value.
  ///
  /// - Returns: whether it was added.
  @discardableResult
  mutating func insert(_ hash: UInt64, _ value: UInt64) -> Bool {
    let key = Self.key(hash)
    let known = place(of: key)
    if entries[known].key == key {
      entries[known].value = value
      return false
    }
    if count == limit { removeAny(key) } else if (count + 1) * 8 > entries.count * 7 { grow() }
    entries[place(of: key)] = Entry(key: key, value: value)
    count += 1
    return true
  }

  mutating func remove(_ hash: UInt64) {
    let place = place(of: Self.key(hash))
    if entries[place].key != 0 { clear(place) }
  }

  private static func key(_ hash: UInt64) -> UInt64 { hash == 0 ? 1 : hash }

  /// The place that a key has, or would have.
  private func place(of key: UInt64) -> Int {
    var place = home(of: key)
    while entries[place].key != 0, entries[place].key != key { place = next(place) }
    return place
  }

  private func home(of key: UInt64) -> Int { Int(truncatingIfNeeded: key) & (entries.count - 1) }

  private func next(_ place: Int) -> Int { (place + 1) & (entries.count - 1) }

  /// How many places lie from one place to a later one.
  private func distance(from other: Int, to place: Int) -> Int { (place - other) & (entries.count - 1) }

  /// Empties a place, and closes the gap.
  private mutating func clear(_ place: Int) {
    var (gap, later) = (place, next(place))
    while entries[later].key != 0 {
      if distance(from: home(of: entries[later].key), to: later) >= distance(from: gap, to: later) {
        entries[gap] = entries[later]
        gap = later
      }
      later = next(later)
    }
    entries[gap] = Self.empty
    count -= 1
  }

  /// Removes the entry at the place that the high bits of a new key tell, or the next one after it.
  private mutating func removeAny(_ key: UInt64) {
    var place = home(of: key.byteSwapped)
    while entries[place].key == 0 { place = next(place) }
    clear(place)
  }

  private mutating func grow() {
    let old = entries
    entries = ContiguousArray(repeating: Self.empty, count: 2 * old.count)
    for entry in old where entry.key != 0 { entries[place(of: entry.key)] = entry }
  }
}

extension Hashable {
  /// A hash of 64 bits, evenly distributed, for a ``CompactTable``. It is another one in each process.
  var compactHash: UInt64 { UInt64(truncatingIfNeeded: hashValue) }
}
