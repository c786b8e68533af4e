/// Who or what asked for an operation to be cancelled.
public enum CancelReason: String, Sendable, Hashable, CaseIterable {
  /// A person, or the program on a person's behalf.
  case user
  /// The machine is short of memory.
  case pressure
  /// The process is ending.
  case shutdown
  /// The operation took longer than it may.
  case timeout
}

extension CancelReason: CustomStringConvertible {
  /// The reason as the end of a sentence: "cancelled …".
  public var description: String {
    switch self {
    case .user: "by the user"
    case .pressure: "by memory pressure"
    case .shutdown: "by shutdown"
    case .timeout: "by its time limit"
    }
  }
}
