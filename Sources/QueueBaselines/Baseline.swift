/// A way to process many items without the bounded queue, written as programs write it. Only comparisons and tests use
/// baselines.
///
/// An item is processed in two steps: it is prepared (its file is read, or its picture rendered), and then finished (the
/// picture is encoded and written). The baselines differ in who takes the steps, when, and in what waits in between. They
/// count nothing themselves: ``CountedWork`` does, so that their code stays what one finds in programs.
///
/// *Concurrency*: call ``run(_:)`` once, on a thread that may block and is none of Swift's pool; the other methods on any
/// thread while it runs.
public protocol Baseline<Item>: Sendable {
  associatedtype Item: Sendable

  /// Processes the items, and returns when the last one is done.
  func run(_ items: [Item])

  /// The items that wait and run, as the queue itself can list them; nil if it has no list.
  func list() -> [String]?

  /// Ends what waits, if the queue can. The producer has been told to stop before.
  func cancel()

  /// What the type is built to guarantee. A comparison shows whether a run bears it out.
  var traits: BaselineTraits { get }
}

extension Baseline {
  /// Without a list.
  public func list() -> [String]? { nil }

  /// Without a way to end what waits.
  public func cancel() {}
}

/// What a way to process items is built to guarantee.
public struct BaselineTraits: Sendable, Hashable {
  /// What is kept of an item while it waits.
  public enum Held: String, Sendable, Codable {
    /// Nothing waits.
    case nothing
    /// The item itself, such as a path.
    case item
    /// What preparing it has made, such as the bytes of its file or its pixels.
    case payload
  }

  /// The most items that wait at once; nil without a bound.
  public let waitingBound: Int?
  public let held: Held

  public init(waitingBound: Int?, held: Held) { (self.waitingBound, self.held) = (waitingBound, held) }
}
