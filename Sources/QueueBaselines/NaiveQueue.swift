import Dispatch
import Locking

/// Work on Grand Central Dispatch as it is often written: each item is a block on a global queue.
///
/// The code is short, uses every processor, and is right as long as the work is faster than its producer. If the work
/// is slower, it has four faults, and none of them can be observed:
///
/// - **Work piles up.** `async` never waits. It appends the block to a linked list whose length has no bound and cannot
///   be read. Only the number of *threads* is bounded, to the number of processors while the blocks compute. The
///   producer never waits for them, and fills memory with payloads as fast as it can make them.
/// - **Waiting work holds memory.** A block keeps the values that it captures from its submission, not from its start:
///   the contents of a file, or a rendered picture, for each item that waits.
/// - **Its state cannot be seen.** A queue has no list of its blocks and no count. The counters here are kept beside
///   it, and only show how much has piled up.
/// - **It cannot be stopped.** A submitted block runs. `DispatchWorkItem.cancel()` works only if the program has kept
///   every item, and leaves a cancelled item, with the values that it holds, in the list until its turn comes. Global
///   queues cannot be suspended.
///
/// Compare `BoundedOperationQueue.submit(_:)`, which waits for room before the item is prepared.
///
/// *Concurrency*: one lock guards the counters.
///
/// *Source*: swift-corelibs-libdispatch, src/queue.c (`_dispatch_root_queue_push` appends to a list without a bound;
/// `_dispatch_root_queue_poke_slow` starts threads up to the size of the pool) and src/event/workqueue.c (the pool
/// grows when its threads block, not when its list is long); dispatch_suspend(3) (global queues cannot be suspended).
public final class NaiveQueue<Item, Payload: Sendable>: Baseline {
  private let prepare: @Sendable (Item) throws -> Payload
  private let work: @Sendable (Payload) throws -> Void
  private let group = DispatchGroup()
  private let counts = Locked(BaselineCounters())

  /// - Parameters:
  ///   - prepare: creates an item's payload; called on the producer's thread.
  ///   - work: processes the payload; called on several threads of Dispatch at once.
  public init(prepare: @escaping @Sendable (Item) throws -> Payload, work: @escaping @Sendable (Payload) throws -> Void)
  {
    self.prepare = prepare
    self.work = work
  }

  /// Prepares the payload and hands it to Dispatch; never waits.
  public func submit(_ item: Item) {
    guard let payload = try? prepare(item) else { return counts.withLock { $0.countNotPrepared() } }
    counts.withLock { $0.countSubmitted() }
    DispatchQueue.global().async(group: group) { [self] in
      counts.withLock { $0.countBegan() }
      let result = Result { try work(payload) }
      counts.withLock { $0.countEnded(isSuccess: result.isSuccess) }
    }
  }

  public func drain() { group.wait() }

  public var counters: BaselineCounters { counts.withLock { $0 } }
}

extension Result {
  var isSuccess: Bool { if case .success = self { true } else { false } }
}
