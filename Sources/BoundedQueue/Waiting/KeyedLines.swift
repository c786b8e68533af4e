import Foundation

/// Counts what is under way of each key, and has a line for each key of which there may not be more.
///
/// *Complexity*: as of ``PriorityLine``. A key of which nothing is under way takes no memory.
struct KeyedLines<Element> {
  struct Ticket: Hashable {
    fileprivate let key: String
    fileprivate let place: PriorityLine<Element>.Ticket
  }

  private struct Line {
    var underWay = 0
    var waiting = PriorityLine<Element>()
  }

  private var lines: [String: Line] = [:]
  /// The entries of all lines.
  private(set) var count = 0

  /// Whether one more may be under way.
  func hasRoom(_ key: String, limit: Int) -> Bool { lines[key].map { $0.underWay < limit } ?? true }

  /// Counts one that is under way.
  mutating func enter(_ key: String) { lines[key, default: Line()].underWay += 1 }

  /// Adds an entry to the line of a key.
  mutating func append(_ element: Element, _ key: String, _ priority: Operation.QueuePriority) -> Ticket {
    count += 1
    return Ticket(key: key, place: lines[key, default: Line()].waiting.append(element, priority))
  }

  /// Counts one that is under way no more.
  ///
  /// - Returns: the next of the line if it may be under way instead; it is counted already.
  mutating func leave(_ key: String, limit: Int) -> Element? {
    guard var line = lines.removeValue(forKey: key) else { preconditionFailure("nothing of \(key) is under way") }
    line.underWay -= 1
    let next = line.underWay < limit ? line.waiting.popFirst() : nil
    if next != nil { (line.underWay, count) = (line.underWay + 1, count - 1) }
    if line.underWay > 0 { lines[key] = line }
    return next
  }

  /// The entry with this ticket; nil if it is no longer there.
  subscript(ticket: Ticket) -> Element? { lines[ticket.key]?.waiting[ticket.place] }

  /// Removes an entry; nil if it is no longer there.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard let element = lines[ticket.key]?.waiting.remove(ticket.place) else { return nil }
    count -= 1
    return element
  }

  /// Removes the entries of all lines and returns them. What is under way stays counted.
  mutating func removeAll() -> [Element] {
    if count == 0 { return [] }
    count = 0
    var removed: [Element] = []
    for key in Array(lines.keys) { removed += lines[key]?.waiting.removeAll() ?? [] }
    return removed
  }

  /// The entries that satisfy the condition, in no order.
  func all(where isWanted: (Element) -> Bool) -> [Element] {
    count == 0 ? [] : lines.values.flatMap { $0.waiting.prefix(.max, where: isWanted) }
  }
}
