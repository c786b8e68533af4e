import Dispatch

/// ``GlobalQueue`` with a semaphore that makes the producer wait: the shortest cure, and it bounds what waits.
///
/// The bound counts items, whatever they hold. What waits and runs can still not be listed, and the producer cannot be
/// stopped while it waits for the semaphore. A block that ends without a signal lowers the bound for good.
public struct SemaphoreQueue<Item: Sendable, Payload: Sendable>: Baseline {
  let work: CountedWork<Item, Payload>
  private let limit: Int

  /// - Parameter limit: the most blocks that run and wait at once.
  public init(_ work: CountedWork<Item, Payload>, limit: Int) { (self.work, self.limit) = (work, limit) }

  public func run(_ items: [Item]) {
    let (group, room) = (DispatchGroup(), DispatchSemaphore(value: limit))
    for item in work.handOut(items) {
      room.wait()
      guard let payload = work.prepare(item) else {
        room.signal()
        continue
      }
      DispatchQueue.global().async(group: group) {
        work.finish(payload)
        room.signal()
      }
    }
    group.wait()
  }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: limit, held: .payload) }
}
