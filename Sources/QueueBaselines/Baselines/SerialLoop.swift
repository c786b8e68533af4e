/// One item after the other, on the producer's thread.
///
/// Nothing piles up, because no item begins before the one before it is done, and the loop can stop between two items. Its
/// only fault is time: it uses one processor, and disk and processor wait for each other.
public struct SerialLoop<Item: Sendable, Payload: Sendable>: Baseline {
  let work: CountedWork<Item, Payload>

  public init(_ work: CountedWork<Item, Payload>) { self.work = work }

  public func run(_ items: [Item]) {
    for item in work.handOut(items) { work.perform(item) }
  }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: 0, held: .nothing) }
}
