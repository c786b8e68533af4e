/// What a source answered when it was asked whether it can be used.
public struct PressureSourceReport: Equatable, Sendable {
  public let source: PressureSourceChoice
  public let isUsable: Bool
  /// Whether the surroundings say that it is to be used.
  public var isAskedFor = false
  /// One line for people: what it listens to, or why it cannot.
  public let explanation: String
}

extension PressureSourceReport: CustomStringConvertible {
  public var description: String { "\(source): \(explanation)" }
}

/// The source asked for by name cannot be used.
public struct PressureSourceError: Error, Equatable, CustomStringConvertible {
  public let source: PressureSourceChoice
  public let reason: String

  public var description: String {
    "pressure source \(source) cannot be used: \(reason); \(PressureSourceChoice.auto) takes one that can"
  }
}
