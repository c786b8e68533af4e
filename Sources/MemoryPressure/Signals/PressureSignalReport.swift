/// Whether one kind of signals can be used, and why.
public struct PressureSignalReport: Equatable, Sendable {
  public let signals: PressureSignalChoice
  public let isUsable: Bool
  /// True if the environment requests signals that cannot be used.
  public var isRequested = false
  /// One line for people: the signals that are read, or the reason why they cannot be used.
  public let explanation: String
}

extension PressureSignalReport: CustomStringConvertible {
  public var description: String { "\(signals): \(explanation)" }
}

/// The chosen signals cannot be used.
public struct PressureSignalError: Error, Equatable, CustomStringConvertible {
  public let signals: PressureSignalChoice
  public let reason: String

  public var description: String {
    let advice = signals == .auto ? "" : "; \(PressureSignalChoice.auto) selects one that works"
    return "pressure source \(signals) cannot be used: \(reason)\(advice)"
  }
}
