/// A way to get through work without a bounded queue: what the bounded one is compared with. No real run uses it.
///
/// It takes its work in the two steps that such programs take it in: what is made ready where the item is met (a file is
/// read, a picture rendered), and what is done with that (it is encoded, written, sent).
///
/// *Concurrency*: ``submit(_:)`` and ``drain()`` from one thread, the producer's; ``counters`` from any at any time.
public protocol Baseline<Item>: AnyObject, Sendable {
  associatedtype Item

  /// Takes an item in.
  func submit(_ item: Item)

  /// Waits until all that was submitted is done.
  func drain()

  var counters: BaselineCounters { get }
}
