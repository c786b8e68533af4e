/// How tight memory is at one moment.
public struct PressureSnapshot: Equatable, Sendable {
  public internal(set) var level = PressureLevel.normal
  /// Why the level is what it is; nil before it first changed.
  public internal(set) var cause: PressureCause?
  /// The source in use: `rss` when no other can be used or the one in use has gone.
  public internal(set) var signals: PressureSignalChoice
  /// The memory held when last looked at.
  public internal(set) var usage: MemoryUsage
  public let limit: MemoryLimit
}
