/// An event that a ``PressureMonitor`` passes to its handler.
public enum PressureEvent: Equatable, Sendable {
  /// The level rose, or fell back to normal.
  case changed(from: PressureLevel, to: PressureLevel, PressureCause)
  /// The level was already critical and a critical signal came again: the measures so far were not enough. `count` is
  /// the number of critical signals since the level rose, including those of a flood that were merged into one event.
  case criticalAgain(count: Int, PressureCause)
  /// The signals can no longer be read. Emitted once. The memory in use is still compared with the limit.
  case signalsLost(PressureCause)
}

/// The signals that caused an event, and the reason.
public struct PressureCause: Equatable, Sendable {
  public let signals: PressureSignalChoice
  /// A short text for people, such as `some threads stalled on memory for 150 ms within 2 s`.
  public let reason: String
}

extension PressureCause: CustomStringConvertible {
  public var description: String { "\(signals): \(reason)" }
}
