/// An event that a ``PressureMonitor`` passes to its handler.
public enum PressureEvent: Equatable, Sendable {
  /// The level rose, or fell back to normal.
  case changed(from: PressureLevel, to: PressureLevel, PressureCause)
  /// The level was already critical and was signalled again: the measures so far were not enough. `count` is the number
  /// of critical signals since the level rose, including those that a flood merged into one event.
  case criticalAgain(count: Int, PressureCause)
  /// The signals can no longer be read. Emitted once; memory in use is still measured against the limit.
  case signalsLost(PressureCause)
}

/// Which signal reported that memory is tight, and why.
public struct PressureCause: Equatable, Sendable {
  public let signals: PressureSignalChoice
  /// A short text for people, such as `memory stalled for 150 ms within 2 s`.
  public let reason: String
}

extension PressureCause: CustomStringConvertible {
  public var description: String { "\(signals): \(reason)" }
}
