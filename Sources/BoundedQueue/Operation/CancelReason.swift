/// The reason for a cancellation.
public enum CancelReason: String, Sendable, Hashable, CaseIterable {
  /// The user cancelled it, or the program did on the user's behalf.
  case user
  /// Memory is short.
  case pressure
  /// The process is ending.
  case shutdown
  /// The operation exceeded its time limit.
  case timeout
  /// An operation that it depends on did not succeed; ``OperationSnapshot/failedDependency`` names it.
  case dependency
  /// Its work is done later by another operation, because something that it needs is not available yet.
  case postponed
}

extension CancelReason: CustomStringConvertible {
  /// Completes a sentence that begins with "cancelled".
  public var description: String {
    switch self {
    case .user: "by the user"
    case .pressure: "by memory pressure"
    case .shutdown: "by shutdown"
    case .timeout: "by its time limit"
    case .dependency: "because an operation that it depends on did not succeed"
    case .postponed: "to be done later by another operation"
    }
  }
}
