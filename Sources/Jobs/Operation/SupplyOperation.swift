import BoundedQueue
import Sourcing
import Synchronization

/// Fetches a source from the network, or reads a file ahead. The operation on the source waits for it. If the result is nil,
/// the operation on the source opens the file itself.
class SupplyOperation: ResultOperation<FetchedSource?>, @unchecked Sendable {  // an atomic flag; the rest is constant
  /// The queue that it runs on.
  let queue: BoundedOperationQueue
  private let isClaimed = Atomic(false)

  init(on queue: BoundedOperationQueue, title: String, kind: String, subject: String) {
    self.queue = queue
    super.init(title: title, kind: kind, subject: subject)
  }

  /// - Returns: true for the first caller, who then submits the operation.
  final func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }

  /// A new operation that brings the same source.
  ///
  /// - Parameter whole: whether it brings all of it.
  func renewed(whole: Bool) -> SupplyOperation {
    preconditionFailure("\(type(of: self)) must override renewed(whole:)")
  }
}
