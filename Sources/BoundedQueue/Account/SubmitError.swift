/// Why a queue did not accept an operation. The operation is unchanged and can be submitted again or to another queue,
/// except after ``alreadySubmitted``.
public enum SubmitError: Error, Sendable, Hashable {
  /// The queue was closed before it accepted the operation.
  case closed
  /// The queue was cancelled while the producer waited.
  case cancelled(CancelReason)
  /// An operation or observer of the same queue submitted it. There, waiting for room could deadlock.
  case fromOwnWorker
  /// The operation was submitted or started before, or has ended: an operation runs once.
  case alreadySubmitted
  /// The operation has dependencies. The queue runs first in, first out, so an operation that cannot start yet would
  /// block the operations after it.
  case hasDependencies
}

extension SubmitError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closed: "the queue is closed and accepts no more operations"
    case .cancelled(let reason): "the queue was cancelled \(reason) while the producer waited for room"
    case .fromOwnWorker:
      "an operation or observer may not submit to its own queue: it would wait for a place that only it can free"
    case .alreadySubmitted: "the operation was submitted or started before; create a new one"
    case .hasDependencies: "the operation has dependencies; a bounded queue runs first in, first out"
    }
  }
}
