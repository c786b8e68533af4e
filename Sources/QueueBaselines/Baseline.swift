/// A way to process work without a bounded queue, for comparison with the bounded one. Only comparisons and tests use
/// it.
///
/// Work has two steps, as in typical programs: the producer prepares a payload for each item (it reads a file, or
/// renders a picture), then the payload is processed (encoded, written or sent).
///
/// *Concurrency*: call ``submit(_:)`` and ``drain()`` on one thread, the producer's; ``counters`` on any thread at any
/// time.
public protocol Baseline<Item>: AnyObject, Sendable {
  associatedtype Item

  /// Submits an item.
  func submit(_ item: Item)

  /// Waits until all submitted items are done.
  func drain()

  var counters: BaselineCounters { get }
}
