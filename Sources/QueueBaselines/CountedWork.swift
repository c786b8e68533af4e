import Locking
import Synchronization

/// The two steps that a baseline takes with each item, and the counts of what waits and runs meanwhile.
///
/// *Concurrency*: every member may be called on any thread; one lock guards the counts.
public final class CountedWork<Item: Sendable, Payload: Sendable>: Sendable {
  private let steps: (prepare: @Sendable (Item) throws -> Payload, finish: @Sendable (Payload) throws -> Void)
  private let counts = Locked(BaselineCounters())
  private let isStopped = Atomic(false)

  /// - Parameters:
  ///   - prepare: makes the payload of an item.
  ///   - finish: processes the payload.
  public init(
    prepare: @escaping @Sendable (Item) throws -> Payload, finish: @escaping @Sendable (Payload) throws -> Void
  ) {
    steps = (prepare, finish)
  }

  public var counters: BaselineCounters { counts.withLock { $0 } }

  /// Hands the items to the producer, one by one, until it is told to stop. An item that the producer has handed on when
  /// it asks for the next one, and with which nothing has begun, waits.
  public func handOut(_ items: [Item]) -> some Sequence<Item> & Sendable { HandedOut(work: self, items: items) }

  /// Lets ``handOut(_:)`` end before the next item.
  public func stop() { isStopped.store(true, ordering: .releasing) }

  /// The first step: afterwards the payload waits for the second one.
  ///
  /// - Returns: nil if it failed.
  public func prepare(_ item: Item) -> Payload? {
    counts.withLock { $0.countBegan() }
    guard let payload = try? steps.prepare(item) else {
      counts.withLock { $0.countEnded(isSuccess: false) }
      return nil
    }
    counts.withLock { $0.countPrepared() }
    return payload
  }

  /// The second step.
  public func finish(_ payload: Payload) {
    counts.withLock { $0.countResumed() }
    let isDone = (try? steps.finish(payload)) != nil
    counts.withLock { $0.countEnded(isSuccess: isDone) }
  }

  /// Both steps.
  public func perform(_ item: Item) {
    counts.withLock { $0.countBegan() }
    let isDone = (try? steps.finish(steps.prepare(item))) != nil
    counts.withLock { $0.countEnded(isSuccess: isDone) }
  }

  private struct HandedOut: Sequence, IteratorProtocol, Sendable {
    let work: CountedWork
    let items: [Item]
    var index = 0

    mutating func next() -> Item? {
      let isOver = index == items.count || work.isStopped.load(ordering: .acquiring)
      work.counts.withLock { $0.countHandedOn(isOver: isOver) }
      if isOver { return nil }
      defer { index += 1 }
      return items[index]
    }
  }
}
