/// Whether one kind of signals can be used, and why.
public struct PressureSignalReport: Equatable, Sendable {
  public let signals: PressureSignalChoice
  public let isUsable: Bool
  /// Whether the environment requests them.
  public var isRequested = false
  /// One line for people: what is read, or why it cannot be.
  public let explanation: String
}

extension PressureSignalReport: CustomStringConvertible {
  public var description: String { "\(signals): \(explanation)" }
}

/// The signals chosen by name cannot be used.
public struct PressureSignalError: Error, Equatable, CustomStringConvertible {
  public let signals: PressureSignalChoice
  public let reason: String

  public var description: String {
    "pressure source \(signals) cannot be used: \(reason); \(PressureSignalChoice.auto) takes one that can"
  }
}
