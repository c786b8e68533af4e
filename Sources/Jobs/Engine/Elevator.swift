import HeapModule

/// A queue of elements with numbers, such as places on a disk. It gives them in the order of their numbers. An element that comes
/// too late for its number waits for the next pass. So the head of a disk moves one way, and no element waits for longer than
/// two passes.
struct Elevator<Element> {
  private struct Rider: Comparable {
    let number: UInt64
    /// How many came before. Of equal numbers, the first that has come is first.
    let arrival: Int
    let element: Element

    static func < (one: Self, other: Self) -> Bool { (one.number, one.arrival) < (other.number, other.arrival) }
    static func == (one: Self, other: Self) -> Bool { one.arrival == other.arrival }
  }

  private var ahead = Heap<Rider>()
  private var behind = Heap<Rider>()
  /// The number of the last element that was given.
  private var last: UInt64 = 0
  private var arrivals = 0

  var count: Int { ahead.count + behind.count }

  mutating func insert(_ element: Element, at number: UInt64) {
    let rider = Rider(number: number, arrival: arrivals, element: element)
    arrivals += 1
    if number < last { behind.insert(rider) } else { ahead.insert(rider) }
  }

  /// Removes the next element; nil if there is none.
  mutating func next() -> Element? {
    if ahead.isEmpty { swap(&ahead, &behind) }
    guard let rider = ahead.popMin() else { return nil }
    last = rider.number
    return rider.element
  }
}
