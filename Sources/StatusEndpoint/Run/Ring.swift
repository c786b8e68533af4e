/// An array that overwrites its oldest element once it is full.
///
/// *Complexity*: `add` O(1) amortised.
struct Ring<Element> {
  private var stored: [Element] = []
  private let capacity: Int
  /// Where the oldest is, once full.
  private var oldest = 0

  init(_ capacity: Int) { self.capacity = capacity }

  /// Oldest first.
  var elements: [Element] { Array(stored[oldest...] + stored[..<oldest]) }

  mutating func add(_ element: Element) {
    guard stored.count == capacity else { return stored.append(element) }
    stored[oldest] = element
    oldest = (oldest + 1) % capacity
  }
}
