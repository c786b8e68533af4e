/// A first-in, first-out line from which entries can also be removed in the middle, which no collection that is at hand
/// does without moving the others.
///
/// Each entry gets a ticket, higher than all before it. Removed entries stay as holes until they are more than half of
/// the storage, so memory use follows the number of entries present, not the number of entries ever added.
///
/// *Complexity*: `append` and `popFirst` are O(1) amortised, `remove` is O(log n) amortised, `prefix` is O(n).
struct WaitingLine<Element> {
  private struct Entry {
    let ticket: Int
    var element: Element?
  }

  private var entries: ContiguousArray<Entry> = []
  /// The index of the first entry present; the end of the storage if there is none.
  private var head = 0
  private var nextTicket = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The number of entries and holes together.
  var storageCount: Int { entries.count }

  /// The first entry.
  var first: Element? { head < entries.count ? entries[head].element : nil }

  /// Adds an entry at the end.
  ///
  /// - Returns: the ticket, with which the entry is found and removed.
  mutating func append(_ element: Element) -> Int {
    defer { nextTicket += 1 }
    entries.append(Entry(ticket: nextTicket, element: element))
    count += 1
    return nextTicket
  }

  mutating func popFirst() -> Element? {
    guard head < entries.count, let element = entries[head].element.take() else { return nil }
    count -= 1
    closeHoles()
    return element
  }

  /// The entry with this ticket; nil if it is no longer there.
  subscript(ticket: Int) -> Element? { index(of: ticket).flatMap { entries[$0].element } }

  /// Removes an entry; nil if it is no longer there.
  mutating func remove(_ ticket: Int) -> Element? {
    guard let index = index(of: ticket), let element = entries[index].element.take() else { return nil }
    count -= 1
    closeHoles()
    return element
  }

  /// Removes all entries and returns them in order.
  mutating func removeAll() -> [Element] {
    let all = prefix(count)
    entries.removeAll()
    head = 0
    count = 0
    return all
  }

  /// The first entries that satisfy the condition, in order: at most `limit`.
  func prefix(_ limit: Int, where isWanted: (Element) -> Bool = { _ in true }) -> [Element] {
    var result: [Element] = []
    result.reserveCapacity(min(limit, count))
    var index = head
    while result.count < limit, index < entries.count {
      if let element = entries[index].element, isWanted(element) { result.append(element) }
      index += 1
    }
    return result
  }

  private func index(of ticket: Int) -> Int? {
    var low = head
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].ticket < ticket { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].ticket == ticket ? low : nil
  }

  private mutating func closeHoles() {
    while head < entries.count, entries[head].element == nil { head += 1 }
    guard entries.count > 32, entries.count > 2 * count else { return }
    entries = ContiguousArray(entries[head...].lazy.filter { $0.element != nil })
    head = 0
  }
}
