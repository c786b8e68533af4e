/// What a source answered when it was asked whether it can be used.
public struct PressureSignalReport: Equatable, Sendable {
  public let signals: PressureSignalChoice
  public let isUsable: Bool
  /// Whether the surroundings say that it is to be used.
  public var isRequested = false
  /// One line for people: what it listens to, or why it cannot.
  public let explanation: String
}

extension PressureSignalReport: CustomStringConvertible {
  public var description: String { "\(signals): \(explanation)" }
}

/// The source asked for by name cannot be used.
public struct PressureSignalError: Error, Equatable, CustomStringConvertible {
  public let signals: PressureSignalChoice
  public let reason: String

  public var description: String {
    "pressure source \(signals) cannot be used: \(reason); \(PressureSignalChoice.auto) takes one that can"
  }
}
