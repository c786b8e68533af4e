/// The rules by which the level rises and falls, memory is sampled and events are emitted. The defaults suit a process
/// with many short operations.
///
/// *Source*: the thresholds and spans follow systemd-oomd, oomd and GLib's memory monitor.
public struct PressureRules: Equatable, Sendable {
  /// The time between two samples of the memory in use. A sample costs about 10 µs. A runaway process took 110 ms from
  /// half of its limit until it was killed.
  public var sampling: Duration = .milliseconds(100)
  /// The shortest time between two events that signals cause, and between two reads of one descriptor. A rise to
  /// critical is emitted at once.
  public var coalescing: Duration = .milliseconds(250)
  /// The shortest time from the last signal until the level falls.
  public var quiet: Duration = .seconds(10)
  /// The shortest time from the last critical signal until the level falls.
  public var quietAfterCritical: Duration = .seconds(15)

  /// The share of the limit from which the memory in use is a warning.
  public var warningShare = 0.75
  /// The share of the limit from which the memory in use is critical.
  public var criticalShare = 0.9
  /// The hysteresis: a share that was crossed counts as crossed until usage is lower than it by this much.
  public var slack = 0.05
  /// The share of the limit below which the level may fall.
  public var calmShare = 0.65

  /// The time after which `auto` opens signals that the environment does not request. Until then, only the memory in
  /// use is compared with the limit. The kernel takes about 10 ms to open its stall triggers and 20 ms to close them,
  /// and a short run should not wait for that.
  public var openingDelay: Duration = .seconds(1)

  public init() {}
}
