/// How an operation ended. Every accepted operation has exactly one outcome.
public enum Outcome: Sendable {
  /// The work was completed, even if a cancellation arrived too late to stop it.
  case succeeded
  /// The work threw this error.
  case failed(any Error)
  /// Cancelled before its work began: `execute()` was never called.
  case cancelledWhileWaiting(CancelReason)
  /// Cancelled after its work began: `execute()` was called and threw.
  case cancelledWhileRunning(CancelReason)

  /// The reason for a cancellation; nil for other outcomes.
  public var cancelReason: CancelReason? {
    switch self {
    case .succeeded, .failed: nil
    case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason): reason
    }
  }
}

extension Outcome: CustomStringConvertible {
  public var description: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed(let error): "failed: \(error)"
    case .cancelledWhileWaiting(let reason): "cancelled while waiting, \(reason)"
    case .cancelledWhileRunning(let reason): "cancelled while running, \(reason)"
    }
  }
}

/// Thrown by ``BoundedOperation/checkCancelled()`` to leave `execute()`; the operation then ends as cancelled.
public struct OperationCancelledError: Error, Sendable, Hashable, CustomStringConvertible {
  public let reason: CancelReason

  public init(reason: CancelReason) { self.reason = reason }

  public var description: String { "cancelled \(reason)" }
}
