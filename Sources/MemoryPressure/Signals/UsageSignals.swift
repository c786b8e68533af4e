/// Signals from the memory in use, compared with the limit. They are used in addition to every other provider, because
/// the others may send nothing: without swap and page cache to reclaim, memory can run out before any stall.
final class UsageSignals: PressureSignalProvider {
  static let name = PressureSignalChoice.rss

  let explanation: String
  let watches: [PressureWatch] = []
  private let limit: MemoryLimit
  private let rules: PressureRules
  private var level = PressureLevel.normal

  init(limit: MemoryLimit, rules: PressureRules) {
    (self.limit, self.rules) = (limit, rules)
    explanation = "the memory in use, compared with the limit of \(limit)"
  }

  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability {
    guard UsageReader(limit: limit, surroundings: surroundings).own() != nil else {
      return .unusable("the system does not report how much memory the process holds")
    }
    return .usable(UsageSignals(limit: limit, rules: PressureRules()))
  }

  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading { .nothing }

  /// Returns a signal as long as memory is tight, so that the quiet time starts when memory is no longer tight. The
  /// signal counts as an event only when a threshold is crossed.
  func sample(usage: MemoryUsage, share: Double) -> PressureSignal? {
    let before = level
    // Hysteresis: usage that hovers around a threshold is one event, not many.
    let (critical, warning) = (
      rules.criticalShare - (before == .critical ? rules.slack : 0),
      rules.warningShare - (before > .normal ? rules.slack : 0)
    )
    level = share >= critical ? .critical : share >= warning ? .warning : .normal
    guard level > .normal else { return nil }
    let who = (usage.group ?? 0) > usage.anonymous ? "the group holds " : ""
    return signal(level, "\(who)\(percent(share)) of the limit of \(limit)", count: level > before ? 1 : 0)
  }
}
