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
  /// The operation depends on one that is not submitted. A queue could become full of operations that wait for one that
  /// has no room in it.
  case dependencyNotSubmitted(OperationName)
  /// The operation depends on itself, directly or by operations of other kinds.
  case dependsOnItself
  /// The operation has announced more bytes than one operation may reserve.
  case exceedsBudget(BudgetExceededError)
}

extension SubmitError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closed: "the queue is closed and accepts no more operations"
    case .cancelled(let reason): "the queue was cancelled \(reason) while the producer waited for room"
    case .fromOwnWorker:
      "an operation or observer may not submit to its own queue: it would wait for a place that only it can free"
    case .alreadySubmitted: "the operation was submitted or started before; create a new one"
    case .dependencyNotSubmitted(let name): "the operation depends on \(name), which must be submitted first"
    case .dependsOnItself: "the operation depends on itself, and could never start"
    case .exceedsBudget(let error): "the operation \(error)"
    }
  }
}
