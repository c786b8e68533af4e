import Dispatch

/// A block on a global queue of Dispatch for each item, which captures what was prepared for it.
///
/// The code is short, uses every processor, and is right as long as the work is faster than its producer. If the work is
/// slower, `async` never waits: it appends the block to a list without a bound, and each block holds what it captures from
/// its submission on. The list can neither be read nor counted, and a submitted block runs:
/// `DispatchWorkItem.cancel()` works only if the program has kept every item. Only the number of *threads* is bounded.
///
/// *Source*: swift-corelibs-libdispatch, src/queue.c (`_dispatch_root_queue_push` appends to a list without a bound;
/// `_dispatch_root_queue_poke_slow` starts threads up to the size of the pool) and src/event/workqueue.c (the pool grows
/// when its threads block, not when its list is long).
public struct GlobalQueue<Item: Sendable, Payload: Sendable>: Baseline {
  let work: CountedWork<Item, Payload>

  public init(_ work: CountedWork<Item, Payload>) { self.work = work }

  public func run(_ items: [Item]) {
    let group = DispatchGroup()
    for item in work.handOut(items) {
      guard let payload = work.prepare(item) else { continue }
      DispatchQueue.global().async(group: group) { work.finish(payload) }
    }
    group.wait()
  }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: nil, held: .payload) }
}
