import HeapModule

/// Elements with places on a disk, of which the one that is next ahead of the last one comes next. Behind the last place it
/// begins again with the first. So the head of a disk moves one way, and no element waits for more than two passes.
struct Elevator<Element> {
  private struct Rider: Comparable {
    let place: UInt64
    /// Counts those that have come, so that of equal places the first is first.
    let number: Int
    let element: Element

    static func < (one: Self, other: Self) -> Bool { (one.place, one.number) < (other.place, other.number) }
    static func == (one: Self, other: Self) -> Bool { one.number == other.number }
  }

  private var ahead = Heap<Rider>()
  private var behind = Heap<Rider>()
  private var place: UInt64 = 0
  private var arrivals = 0

  var count: Int { ahead.count + behind.count }

  mutating func insert(_ element: Element, at place: UInt64) {
    let rider = Rider(place: place, number: arrivals, element: element)
    arrivals += 1
    if place < self.place { behind.insert(rider) } else { ahead.insert(rider) }
  }

  /// Removes the next element; nil if there is none.
  mutating func next() -> Element? {
    if ahead.isEmpty { swap(&ahead, &behind) }
    guard let rider = ahead.popMin() else { return nil }
    place = rider.place
    return rider.element
  }
}
