import Foundation

/// An `OperationQueue` with `maxConcurrentOperationCount`: “switch to NSOperation”.
///
/// The operations have names, can be listed, and can be cancelled. But the property limits what *runs*: `addOperation`
/// never waits, so as many operations pile up as with Dispatch, with what they capture and 880 bytes each.
///
/// *Source*: swift-corelibs-foundation, Sources/Foundation/Operation.swift (`_addOperations`, `_schedule`).
public struct PlainOperationQueue<Item: Sendable, Payload: Sendable>: Baseline {
  let work: CountedWork<Item, Payload>
  private let queue = OperationQueue()

  /// - Parameter limit: the most operations that run at once.
  public init(_ work: CountedWork<Item, Payload>, limit: Int) {
    self.work = work
    queue.maxConcurrentOperationCount = limit
  }

  public func run(_ items: [Item]) {
    for item in work.handOut(items) {
      guard let payload = work.prepare(item) else { continue }
      let operation = BlockOperation { work.finish(payload) }
      operation.name = "\(item)"
      queue.addOperation(operation)
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  public func list() -> [String]? { queue.operations.map { $0.name ?? "\($0)" } }

  public func cancel() { queue.cancelAllOperations() }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: nil, held: .payload) }
}
