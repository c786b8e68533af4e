/// When a level rises and falls, and how often is looked and told. The defaults suit a process of many short operations.
///
/// *Source*: the thresholds and spans follow systemd-oomd, oomd and GLib's memory monitor.
public struct PressureRules: Equatable, Sendable {
  /// Between two looks at the memory held. A look costs about 10 µs; a runaway went from half its limit to its end
  /// in 110 ms.
  public var sampling: Duration = .milliseconds(100)
  /// The least time between two events told, but for the first rise to critical, which is told at once.
  public var coalescing: Duration = .milliseconds(250)
  /// How long no source may have spoken before the level falls.
  public var quiet: Duration = .seconds(10)
  /// The same, after the last critical event.
  public var quietAfterCritical: Duration = .seconds(15)

  /// The shares of the limit from which holding that much is a warning, and critical.
  public var warningShare = 0.75
  public var criticalShare = 0.9
  /// How far below such a share counts as still above it, once it was crossed.
  public var slack = 0.05
  /// The share of the limit below which the level may fall.
  public var calmShare = 0.65

  public init() {}
}
