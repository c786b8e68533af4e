import DequeModule

extension Deque {
  /// Appends an element, and first drops the oldest if there are `capacity` already.
  ///
  /// *Complexity*: O(1) amortised.
  mutating func append(_ element: Element, keeping capacity: Int) {
    if count >= capacity { removeFirst() }
    append(element)
  }
}
