/// A way to process work without a bounded queue, for comparison with the bounded one. Only comparisons and tests use it.
///
/// Work has two steps, as in typical programs: the producer prepares a payload for each item (a file is read, a picture
/// rendered), then the payload is processed (encoded, written, sent).
///
/// *Concurrency*: ``submit(_:)`` and ``drain()`` from one thread, the producer's; ``counters`` from any at any time.
public protocol Baseline<Item>: AnyObject, Sendable {
  associatedtype Item

  /// Submits an item.
  func submit(_ item: Item)

  /// Waits until all submitted items are done.
  func drain()

  var counters: BaselineCounters { get }
}
