import Dispatch

/// A block on a global queue of Dispatch for each item, which captures the item alone and prepares it when it runs.
///
/// What waits is as long a list as in ``GlobalQueue``, but holds little. It cannot be listed or cancelled either.
public struct GlobalQueueOfItems<Item: Sendable, Payload: Sendable>: Baseline {
  let work: CountedWork<Item, Payload>

  public init(_ work: CountedWork<Item, Payload>) { self.work = work }

  public func run(_ items: [Item]) {
    let group = DispatchGroup()
    for item in work.handOut(items) {
      DispatchQueue.global().async(group: group) { work.perform(item) }
    }
    group.wait()
  }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: nil, held: .item) }
}
