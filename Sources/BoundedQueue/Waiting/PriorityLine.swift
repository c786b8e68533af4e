import Foundation

/// A line in which entries with a higher priority go before others, but only before some: none waits for ever.
///
/// An entry goes before those of a lower priority that came at most so many entries earlier, as the difference of their
/// ``leads`` says. So the order depends on nothing but the entries, and on no clock.
///
/// *Complexity*: as of ``WaitingLine``; `prefix` and `removeAll` also sort if there are entries of several priorities.
struct PriorityLine<Element> {
  struct Ticket: Hashable {
    fileprivate let line: Int
    fileprivate let number: Int
  }

  private typealias Entry = (position: Int, element: Element)

  /// How many entries each priority is ahead of where it has come, from the highest priority to the lowest.
  static var leads: [Int] { [1000, 100, 0, -100, -1000] }

  /// One for each priority.
  private var lines = Array(repeating: WaitingLine<Entry>(), count: PriorityLine.leads.count)
  private var arrivals = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The entry that is next.
  var first: Element? { next.flatMap { lines[$0].first?.element } }

  mutating func append(_ element: Element, _ priority: Operation.QueuePriority = .normal) -> Ticket {
    let line = Self.line(of: priority)
    arrivals += 1
    count += 1
    return Ticket(line: line, number: lines[line].append((arrivals - Self.leads[line], element)))
  }

  mutating func popFirst() -> Element? {
    guard let next, let entry = lines[next].popFirst() else { return nil }
    count -= 1
    return entry.element
  }

  /// The entry with this ticket; nil if it is no longer there.
  subscript(ticket: Ticket) -> Element? { lines[ticket.line][ticket.number]?.element }

  /// Removes an entry; nil if it is no longer there.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard let entry = lines[ticket.line].remove(ticket.number) else { return nil }
    count -= 1
    return entry.element
  }

  /// Removes all entries and returns them in order.
  mutating func removeAll() -> [Element] {
    defer {
      for index in lines.indices { _ = lines[index].removeAll() }
      count = 0
    }
    return prefix(count)
  }

  /// The first entries that satisfy the condition, in order: at most `limit`.
  func prefix(_ limit: Int, where isWanted: (Element) -> Bool = { _ in true }) -> [Element] {
    let used = lines.filter { !$0.isEmpty }
    let entries = used.flatMap { $0.prefix(limit) { isWanted($0.element) } }
    if used.count < 2 { return entries.map(\.element) }
    // Where two positions are equal, the higher priority comes first.
    return entries.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
      .prefix(limit).map(\.element.element)
  }

  /// The line whose first entry is next.
  private var next: Int? {
    var found: (line: Int, position: Int)?
    for (line, entries) in lines.enumerated() {
      guard let position = entries.first?.position, found.map({ position < $0.position }) ?? true else { continue }
      found = (line, position)
    }
    return found?.line
  }

  private static func line(of priority: Operation.QueuePriority) -> Int {
    switch priority {
    case .veryHigh: 0
    case .high: 1
    case .normal: 2
    case .low: 3
    case .veryLow: 4
    @unknown default: 2
    }
  }
}
