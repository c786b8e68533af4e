import Dispatch

/// One serial queue of Dispatch that finishes what the producer prepares: “a background queue for the slow part”.
///
/// Nothing has to be locked, because one block runs after the other. As soon as the second step takes longer than the
/// first, blocks pile up as in ``GlobalQueue``, with what they capture.
public struct OneSerialQueue<Item: Sendable, Payload: Sendable>: Baseline {
  let work: CountedWork<Item, Payload>
  private let queue = DispatchQueue(label: "encoding")

  public init(_ work: CountedWork<Item, Payload>) { self.work = work }

  public func run(_ items: [Item]) {
    for item in work.handOut(items) {
      guard let payload = work.prepare(item) else { continue }
      queue.async { work.finish(payload) }
    }
    queue.sync {}
  }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: nil, held: .payload) }
}
