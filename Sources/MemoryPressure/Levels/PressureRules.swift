/// When a level rises and falls, and how often memory is sampled and events are emitted. The defaults suit a process with
/// many short operations.
///
/// *Source*: the thresholds and spans follow systemd-oomd, oomd and GLib's memory monitor.
public struct PressureRules: Equatable, Sendable {
  /// The time between two samples of the memory in use. A sample costs about 10 µs; a runaway process went from half of its
  /// limit to its end in 110 ms.
  public var sampling: Duration = .milliseconds(100)
  /// The shortest time between two events, except for the first rise to critical, which is emitted at once.
  public var coalescing: Duration = .milliseconds(250)
  /// How long no signal may have come before the level falls.
  public var quiet: Duration = .seconds(10)
  /// The same, after the last critical event.
  public var quietAfterCritical: Duration = .seconds(15)

  /// The shares of the limit from which memory in use is a warning, and critical.
  public var warningShare = 0.75
  public var criticalShare = 0.9
  /// The hysteresis: once a share was crossed, it counts as crossed until usage is this much lower.
  public var slack = 0.05
  /// The share of the limit below which the level may fall.
  public var calmShare = 0.65

  public init() {}
}
