import Testing

@testable import JobSettings
@testable import MemoryPressure
@testable import PictureMaking

@Suite struct PressurePolicyTests {
  private static let cause = PressureCause(signals: .psi, reason: "")

  private static func becomes(_ level: PressureLevel, from old: PressureLevel = .normal) -> PressureEvent {
    .changed(from: old, to: level, cause)
  }

  /// The steps that the ticks of so many seconds give. Each widening applies to the ticks that follow.
  private func wait(
    _ seconds: Int, _ policy: inout PressurePolicy, max: Int, isIdle: Bool = false
  ) -> [PressurePolicy.Step] {
    var steps: [PressurePolicy.Step] = []
    var max = max
    for _ in 0..<(seconds * 10) {
      guard let step = policy.tick(max: max, isIdle: isIdle) else { continue }
      if case .widen(let width) = step { max = width }
      steps.append(step)
    }
    return steps
  }

  @Test func aWarningPausesAndNormalResumesWithTheSameMaximum() {
    var policy = PressurePolicy(.requeue, fullMax: 8)
    #expect(policy.handle(Self.becomes(.warning), max: 8) == .pause)
    #expect(policy.handle(Self.becomes(.normal, from: .warning), max: 8) == .resume)
    #expect(wait(60, &policy, max: 8) == [])
  }

  @Test func criticalHalvesTheMaximumWhichGrowsBackOneByOne() {
    var policy = PressurePolicy(.requeue, fullMax: 8)
    #expect(policy.handle(Self.becomes(.critical), max: 8) == .requeue(max: 4))
    #expect(policy.handle(Self.becomes(.normal, from: .critical), max: 4) == .resume)
    #expect(wait(4, &policy, max: 4) == [])
    #expect(wait(60, &policy, max: 4) == [.widen(to: 5), .widen(to: 6), .widen(to: 7), .widen(to: 8)])
  }

  @Test func theMaximumNeverFallsBelowOne() {
    var policy = PressurePolicy(.requeue, fullMax: 1)
    #expect(policy.handle(Self.becomes(.critical), max: 1) == .requeue(max: 1))
  }

  @Test(arguments: [
    (PressureResponse.cancel, PressurePolicy.Step.stop, PressurePolicy.Step.pause), (.pause, .pause, .pause),
    (.ignore, .report, .report),
  ])
  func otherResponsesPauseStopOrReport(
    response: PressureResponse, atCritical: PressurePolicy.Step, atWarning: PressurePolicy.Step
  ) {
    var policy = PressurePolicy(response, fullMax: 4)
    #expect(policy.handle(Self.becomes(.warning), max: 4) == atWarning)
    #expect(policy.handle(Self.becomes(.critical, from: .warning), max: 4) == atCritical)
  }

  @Test func aRepeatedCriticalSignalCancelsOnlyOperationsStartedSince() {
    var policy = PressurePolicy(.requeue, fullMax: 4)
    _ = policy.handle(Self.becomes(.critical), max: 4)
    #expect(policy.handle(.criticalAgain(count: 2, Self.cause), max: 2) == .shrink)
    #expect(wait(31, &policy, max: 2, isIdle: true) == [.shrink, .oneAtATime])
    #expect(policy.handle(.criticalAgain(count: 3, Self.cause), max: 1) == .requeue(max: 1))
    #expect(policy.handle(.criticalAgain(count: 4, Self.cause), max: 1) == .shrink)
  }

  /// Other processes may hold the memory forever. A job that waited for them would hang.
  @Test func oneOperationRunsAfterAWhileIfOthersHoldTheMemory() {
    var policy = PressurePolicy(.requeue, fullMax: 4)
    _ = policy.handle(Self.becomes(.warning), max: 4)
    #expect(wait(60, &policy, max: 4, isIdle: false) == [], "running operations may still release memory")
    #expect(wait(29, &policy, max: 4, isIdle: true) == [.shrink], "returns the memory of the last operation")
    #expect(wait(1, &policy, max: 4, isIdle: true) == [.oneAtATime])
    #expect(!wait(60, &policy, max: 1).contains(.widen(to: 2)), "one at a time as long as memory is tight")
    #expect(policy.handle(Self.becomes(.normal, from: .warning), max: 1) == .resume)
    #expect(wait(6, &policy, max: 1) == [.widen(to: 2)])
  }

  /// Another process that stays at the limit causes signal after signal. They must not delay the one operation forever.
  @Test func repeatedSignalsDoNotDelayThatOneOperation() {
    var policy = PressurePolicy(.pause, fullMax: 4)
    _ = policy.handle(Self.becomes(.critical), max: 4)
    var steps: [PressurePolicy.Step] = []
    for count in 1...31 {
      steps += wait(1, &policy, max: 4, isIdle: true)
      if count < 30 { #expect(policy.handle(.criticalAgain(count: count, Self.cause), max: 4) == .shrink) }
    }
    #expect(steps == [.shrink, .oneAtATime])
  }

  @Test func unusedMemoryIsReturnedOnceAfterIdleTime() {
    var policy = PressurePolicy(.requeue, fullMax: 2)
    #expect(wait(60, &policy, max: 2, isIdle: true) == [.shrink])
    #expect(wait(1, &policy, max: 2) == [])
    #expect(wait(6, &policy, max: 2, isIdle: true) == [.shrink])
  }

  @Test func lostSignalsAreOnlyReported() {
    var policy = PressurePolicy(.requeue, fullMax: 2)
    #expect(policy.handle(.signalsLost(Self.cause), max: 2) == .report)
    #expect(policy.level == .normal)
  }
}
