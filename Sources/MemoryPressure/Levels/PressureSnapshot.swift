/// How tight memory is at one moment.
public struct PressureSnapshot: Equatable, Sendable {
  public internal(set) var level = PressureLevel.normal
  /// The cause of the level; nil before its first change.
  public internal(set) var cause: PressureCause?
  /// The signals in use; `rss` if no others can be used, if they are not opened yet, or if they were lost.
  public internal(set) var signals: PressureSignalChoice
  /// The memory in use at the last sample.
  public internal(set) var usage: MemoryUsage
  public let limit: MemoryLimit
}
