import Dispatch
import Locking

/// Work on Grand Central Dispatch as it is often written: a block for each item, given to a global queue.
///
/// It is short, it uses every processor, and it is right as long as the work is faster than its producer. Where it is
/// not, this is what happens, all of it unseen:
///
/// - **It piles up.** `async` never waits: the block goes to the end of a linked list, whose length nothing bounds
///   and nobody can ask for. Bounded is the number of *threads* only, to the processors there are while the blocks
///   compute; so the producer, which is one of them, fills memory with payloads as fast as it can make them.
/// - **It holds everything.** A block keeps what it captures from the moment it is submitted, not from the moment it runs:
///   a file read, a picture rendered, for each item that waits.
/// - **It cannot be seen.** A queue has no list of its blocks and no count; the counters here are beside it, and only say
///   how bad it is.
/// - **It cannot be stopped.** A submitted block runs. `DispatchWorkItem.cancel()` needs somebody who has kept every item,
///   and leaves the cancelled one, with what it holds, in the list until its turn comes. Global queues cannot be suspended.
///
/// Compare `BoundedOperationQueue.submit(_:)`, which waits for a place before the item is made ready.
///
/// *Concurrency*: one lock guards the counters.
///
/// *Source*: swift-corelibs-libdispatch, src/queue.c (`_dispatch_root_queue_push`: a list without a bound;
/// `_dispatch_root_queue_poke_slow`: threads up to the size of the pool) and src/event/workqueue.c (the pool grows when
/// its threads block, not when its list is long); dispatch_suspend(3) on global queues.
public final class NaiveQueue<Item, Payload: Sendable>: Baseline {
  private let prepare: @Sendable (Item) throws -> Payload
  private let work: @Sendable (Payload) throws -> Void
  private let group = DispatchGroup()
  private let counts = Locked(BaselineCounters())

  /// - Parameters:
  ///   - prepare: creates an item's payload, on the producer's thread.
  ///   - work: processes the payload, on threads of Dispatch, several at once.
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
