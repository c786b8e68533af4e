import Locking

/// The same work without any queue: one item after the other, on the producer's own thread.
///
/// Nothing can pile up, since nothing new is begun before the last is done, and the loop can be left between two items.
/// What goes wrong is only that it takes as many times longer as there are processors, and that the disk waits while the
/// processor works and the other way round.
///
/// *Concurrency*: one lock guards the counters.
public final class SerialLoop<Item, Payload>: Baseline {
  private let prepare: @Sendable (Item) throws -> Payload
  private let work: @Sendable (Payload) throws -> Void
  private let counts = Locked(BaselineCounters())

  /// - Parameters:
  ///   - prepare: makes an item's payload.
  ///   - work: what is done with it.
  public init(prepare: @escaping @Sendable (Item) throws -> Payload, work: @escaping @Sendable (Payload) throws -> Void)
  {
    self.prepare = prepare
    self.work = work
  }

  /// Makes the payload and does the work; returns when it is done.
  public func submit(_ item: Item) {
    guard let payload = try? prepare(item) else { return counts.withLock { $0.countNotPrepared() } }
    counts.withLock { $0.countStarted() }
    let result = Result { try work(payload) }
    counts.withLock { $0.countEnded(isSuccess: result.isSuccess) }
  }

  /// All is done already.
  public func drain() {}

  public var counters: BaselineCounters { counts.withLock { $0 } }
}
