import Testing

@testable import MemoryPressure

/// The gauge, with times that the tests choose.
@Suite struct PressureGaugeTests {
  private var gauge = PressureGauge(rules: PressureRules())
  private let start = ContinuousClock.now

  private static func cause(_ reason: String) -> PressureCause { PressureCause(signals: .psi, reason: reason) }

  private mutating func receive(
    _ level: PressureLevel, after seconds: Double, count: Int = 1, _ reason: String = "tight"
  ) -> PressureEvent? {
    let signal = PressureSignal(level: level, cause: Self.cause(reason), count: count)
    return gauge.receive(signal, at: start + .seconds(seconds))
  }

  private mutating func decay(_ share: Double, after seconds: Double) -> PressureEvent? {
    gauge.decay(share: share, at: start + .seconds(seconds))
  }

  @Test mutating func aLevelRisesAtOnceAndIsReportedOnce() {
    #expect(receive(.warning, after: 0) == .changed(from: .normal, to: .warning, Self.cause("tight")))
    #expect(receive(.warning, after: 1) == nil)
    #expect(receive(.critical, after: 2) == .changed(from: .warning, to: .critical, Self.cause("tight")))
    #expect(receive(.warning, after: 3) == nil)
    #expect(gauge.level == .critical)
  }

  @Test mutating func theRiseToCriticalIsNotRateLimited() {
    #expect(receive(.warning, after: 0) != nil)
    #expect(receive(.critical, after: 0.001) == .changed(from: .warning, to: .critical, Self.cause("tight")))
  }

  @Test mutating func aWarningFallsAfterTenQuietSecondsWithLowUsage() {
    _ = receive(.warning, after: 0)
    #expect(decay(0.64, after: 9.99) == nil)
    #expect(decay(0.65, after: 10) == nil)
    #expect(decay(0.7, after: 60) == nil)
    let cause = PressureCause(signals: .rss, reason: "no signal for 61 s, 64 % of the limit in use")
    #expect(decay(0.649, after: 61) == .changed(from: .warning, to: .normal, cause))
    #expect(decay(0.1, after: 99) == nil)
  }

  @Test mutating func eachSignalRestartsTheQuietTime() {
    _ = receive(.warning, after: 0)
    _ = receive(.warning, after: 9)
    #expect(decay(0.1, after: 18.9) == nil)
    #expect(decay(0.1, after: 19) != nil)
  }

  @Test mutating func aCriticalLevelFallsAfterFifteenSeconds() {
    _ = receive(.critical, after: 0)
    _ = receive(.warning, after: 2)
    #expect(decay(0.1, after: 14.9) == nil)
    #expect(decay(0.1, after: 15) != nil)
    #expect(gauge.level == .normal)
    // A later warning needs only the shorter quiet time.
    _ = receive(.warning, after: 20)
    #expect(decay(0.1, after: 30) != nil)
  }

  @Test mutating func furtherCriticalSignalsAreReportedWithTheirCountFourTimesASecond() {
    _ = receive(.critical, after: 0)
    #expect(receive(.critical, after: 0.1) == nil)
    #expect(receive(.critical, after: 0.2, count: 800) == nil)
    #expect(decay(0.1, after: 0.24) == nil)
    #expect(decay(0.1, after: 0.25) == .criticalAgain(count: 802, Self.cause("tight")))
    #expect(decay(0.1, after: 0.6) == nil)
    #expect(receive(.critical, after: 0.7, "again") == .criticalAgain(count: 803, Self.cause("again")))
  }

  @Test mutating func aLastingStateKeepsTheLevelAndIsNotReportedAgain() {
    #expect(receive(.critical, after: 0, count: 1) != nil)
    for tenth in 1...300 {
      #expect(receive(.critical, after: Double(tenth) / 10, count: 0) == nil)
      #expect(decay(0.95, after: Double(tenth) / 10) == nil)
    }
    #expect(decay(0.1, after: 44.9) == nil)
    #expect(decay(0.1, after: 45) != nil)
  }

  @Test mutating func aWarningRightAfterTheFallIsRateLimited() {
    _ = receive(.warning, after: 0)
    #expect(decay(0.1, after: 10) != nil)
    #expect(receive(.warning, after: 10.1) == nil)
    #expect(gauge.level == .normal)
    #expect(decay(0.1, after: 10.25) == .changed(from: .normal, to: .warning, Self.cause("tight")))
  }

  @Test mutating func theCountRestartsWithEachRise() {
    _ = receive(.critical, after: 0, count: 5)
    #expect(receive(.critical, after: 1) == .criticalAgain(count: 6, Self.cause("tight")))
    _ = decay(0.1, after: 30)
    _ = receive(.critical, after: 40)
    #expect(receive(.critical, after: 41) == .criticalAgain(count: 2, Self.cause("tight")))
  }

  @Test mutating func theTimesAndSharesComeFromTheRules() {
    var rules = PressureRules()
    rules.quiet = .milliseconds(200)
    rules.quietAfterCritical = .milliseconds(300)
    rules.calmShare = 0.5
    gauge = PressureGauge(rules: rules)
    _ = receive(.critical, after: 0)
    #expect(decay(0.49, after: 0.29) == nil)
    #expect(decay(0.5, after: 0.3) == nil)
    #expect(decay(0.49, after: 0.3) != nil)
  }

  @Test func usageSignalsBeginAtTheirThresholds() {
    let limit = MemoryLimit(bytes: 192 << 20, origin: .cgroup1(folder: "/"))
    let provider = UsageSignals(limit: limit, rules: PressureRules())
    func sample(_ share: Double, group: Bool = false) -> PressureSignal? {
      let usage = MemoryUsage(anonymous: Int(share * Double(limit.bytes)), group: group ? limit.bytes : nil)
      return provider.sample(usage: usage, share: share)
    }
    #expect(sample(0.749) == nil)
    #expect(sample(0.75)?.level == .warning)
    #expect(sample(0.8)?.count == 0)
    let critical = sample(0.935)
    #expect(critical?.level == .critical && critical?.count == 1)
    #expect(critical.map { "\($0.cause)" } == "rss: 93 % of the limit of 192 MiB (cgroup v1)")
    #expect(sample(0.95)?.count == 0)
    // Within the hysteresis: no new event when usage rises again.
    #expect(sample(0.86)?.level == .critical)
    #expect(sample(0.9)?.count == 0)
    #expect(sample(0.84)?.level == .warning)
    #expect(sample(0.9)?.count == 1)
    #expect(sample(0.71)?.level == .warning && sample(0.69) == nil)
    _ = sample(0.9)
    #expect(sample(0.9, group: true)?.cause.reason == "the group holds 90 % of the limit of 192 MiB (cgroup v1)")
  }
}
