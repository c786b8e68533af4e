import Locking

/// The same work as in ``NaiveQueue`` without a queue: one item after the other, on the producer's thread.
///
/// Nothing piles up, because no item begins before the previous one is done, and the loop can stop between two items.
/// Its only fault is time: it uses one processor, and disk and processor wait for each other.
///
/// *Concurrency*: one lock guards the counters.
public final class SerialLoop<Item, Payload>: Baseline {
  private let prepare: @Sendable (Item) throws -> Payload
  private let work: @Sendable (Payload) throws -> Void
  private let counts = Locked(BaselineCounters())

  /// - Parameters:
  ///   - prepare: creates an item's payload.
  ///   - work: processes the payload.
  public init(prepare: @escaping @Sendable (Item) throws -> Payload, work: @escaping @Sendable (Payload) throws -> Void)
  {
    self.prepare = prepare
    self.work = work
  }

  /// Prepares the payload and processes it; returns when it is done.
  public func submit(_ item: Item) {
    guard let payload = try? prepare(item) else { return counts.withLock { $0.countNotPrepared() } }
    counts.withLock { $0.countStarted() }
    let result = Result { try work(payload) }
    counts.withLock { $0.countEnded(isSuccess: result.isSuccess) }
  }

  /// Returns at once: every submitted item is already done.
  public func drain() {}

  public var counters: BaselineCounters { counts.withLock { $0 } }
}
