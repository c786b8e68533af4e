/// Why a queue did not accept an operation. The operation is then untouched and may be submitted elsewhere or again,
/// except after ``alreadySubmitted``.
public enum SubmitError: Error, Sendable, Hashable {
  /// The queue was closed before the operation got a place.
  case closed
  /// The queue was cancelled while the producer waited for a place.
  case cancelled(CancelReason)
  /// Submitted from one of the queue's own operations or observers, where waiting for a place could wait for ever.
  case fromOwnWorker
  /// The operation was submitted, started or settled before: an operation runs once.
  case alreadySubmitted
  /// The operation depends on others. A bounded queue is first in, first out: an operation that cannot start yet would
  /// hold a place for nothing.
  case hasDependencies
}

extension SubmitError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closed: "the queue is closed and takes no more operations"
    case .cancelled(let reason): "the queue was cancelled \(reason) while the producer waited for a place"
    case .fromOwnWorker:
      "an operation or observer may not submit to its own queue: it would wait for a place that only it can free"
    case .alreadySubmitted: "the operation was submitted or started before; make a new one"
    case .hasDependencies: "the operation has dependencies; a bounded queue runs first in, first out"
    }
  }
}
