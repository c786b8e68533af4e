/// What a ``PressureMonitor`` tells its handler.
public enum PressureEvent: Equatable, Sendable {
  /// The level rose, or fell back to normal.
  case changed(from: PressureLevel, to: PressureLevel, PressureCause)
  /// The level was critical already and its source said so again: what has been done about it was not enough. `count` is
  /// the number of critical events since the level rose, those left out of a flood included.
  case criticalAgain(count: Int, PressureCause)
  /// A source has gone. Told once; the memory held is still measured against the limit.
  case signalsLost(PressureCause)
}

/// Who said that memory is tight, and why.
public struct PressureCause: Equatable, Sendable {
  public let signals: PressureSignalChoice
  /// Short and for people, such as `memory stalled for 150 ms within 2 s`.
  public let reason: String
}

extension PressureCause: CustomStringConvertible {
  public var description: String { "\(signals): \(reason)" }
}
