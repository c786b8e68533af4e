/// Turns signals into levels and events. The level rises with a signal and falls after a quiet time; events are
/// rate-limited. It is a value without a clock: callers pass the time.
struct PressureGauge {
  typealias Instant = ContinuousClock.Instant

  private let rules: PressureRules
  private(set) var level = PressureLevel.normal
  /// The number of critical signals since the level rose.
  private var criticalEvents = 0
  private var lastSignal: Instant?
  private var lastCritical: Instant?
  private var lastEmitted: Instant?
  /// A signal that is not emitted yet, because it came too soon after the last event.
  private var pending: PressureSignal?

  init(rules: PressureRules) { self.rules = rules }

  /// Handles a signal; returns the event to emit now, if any.
  mutating func receive(_ signal: PressureSignal, at now: Instant) -> PressureEvent? {
    guard signal.level > .normal else { return nil }
    lastSignal = now
    if signal.level == .critical { lastCritical = now }
    if signal.level == .critical, level < .critical {
      criticalEvents = max(signal.count, 1)
      return rise(signal, at: now)
    }
    if signal.level == .critical { criticalEvents += signal.count }
    let isNews = signal.level > level || (signal.level == .critical && signal.count > 0)
    guard isNews else { return nil }
    pending = signal
    return emitPending(at: now)
  }

  /// Lowers the level after a quiet time, or emits a pending event. Call it regularly with the share of the limit in
  /// use.
  mutating func decay(share: Double, at now: Instant) -> PressureEvent? {
    if pending != nil { return emitPending(at: now) }
    guard level > .normal, share < rules.calmShare, let lastSignal, now - lastSignal >= rules.quiet,
      lastCritical.map({ now - $0 >= rules.quietAfterCritical }) ?? true
    else { return nil }
    let old = level
    level = .normal
    lastEmitted = now
    lastCritical = nil
    let reason = "no signal for \(text(now - lastSignal)), \(percent(share)) of the limit in use"
    return .changed(from: old, to: .normal, PressureCause(signals: .rss, reason: reason))
  }

  private mutating func emitPending(at now: Instant) -> PressureEvent? {
    guard let signal = pending, lastEmitted.map({ now - $0 >= rules.coalescing }) ?? true else { return nil }
    if signal.level > level { return rise(signal, at: now) }
    pending = nil
    lastEmitted = now
    return .criticalAgain(count: criticalEvents, signal.cause)
  }

  private mutating func rise(_ signal: PressureSignal, at now: Instant) -> PressureEvent {
    let old = level
    level = signal.level
    pending = nil
    lastEmitted = now
    return .changed(from: old, to: level, signal.cause)
  }
}
