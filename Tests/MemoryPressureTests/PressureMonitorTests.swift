import Foundation
import TestSupport
import Testing

@testable import MemoryPressure

/// The monitor with its thread. The tests run serially, because they block at gates.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PressureMonitorTests {
  private let system: FakeSystem

  init() throws { system = try FakeSystem(mounts: "", groups: "0::/\n") }

  private func surroundings(_ bell: Doorbell, write: String? = nil) -> Surroundings {
    var variables = ["MEMORY_PRESSURE_WATCH": bell.path]
    variables["MEMORY_PRESSURE_WRITE"] = write
    return system.surroundings(variables)
  }

  // MARK: Events

  @Test(arguments: Doorbell.Kind.allCases) func aSignalIsACriticalEvent(_ kind: Doorbell.Kind) async throws {
    let (recorder, bell) = (EventRecorder(), Doorbell(kind))
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell), handler: recorder.handler)
    defer { monitor.stop() }
    #expect(monitor.snapshot.level == .normal && monitor.snapshot.signals == .systemd)
    try await onThread { bell.ring() }
    #expect(try await eventually { !recorder.events.isEmpty })
    let cause = PressureCause(signals: .systemd, reason: "event on \(bell.path)")
    #expect(recorder.events == [.changed(from: .normal, to: .critical, cause)])
    #expect(monitor.snapshot.level == .critical && monitor.snapshot.cause == cause)
  }

  @Test func theTriggerIsWrittenToASocketButNotToAFIFO() async throws {
    let payload: [UInt8] = Array("some 1 2".utf8) + [0, 255, 0]
    let text = Data(payload).base64EncodedString()
    let socket = Doorbell(.socket)
    let monitor = try PressureMonitor.quick(.systemd, surroundings(socket, write: text))
    defer { monitor.stop() }
    #expect(try await onThread { socket.received(payload.count) } == payload)
    // Without a monitor, because that would read the FIFO.
    let fifo = Doorbell(.fifo)
    let answer = SystemdSignals.open(in: surroundings(fifo, write: text), under: system.limit)
    guard case .usable(let provider) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(provider.watches[0].descriptor.discard().any == false)
  }

  @Test func tenThousandSignalsBecomeAFewEvents() async throws {
    let (recorder, bell) = (EventRecorder(), Doorbell(.fifo))
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell), handler: recorder.handler)
    defer { monitor.stop() }
    let start = ContinuousClock.now
    // The second half comes after the first event: on a busy machine one read could otherwise handle all of them.
    try await onThread { for _ in 0..<5 { bell.ring(1000) } }
    #expect(try await eventually { !recorder.levels.isEmpty })
    try await onThread { for _ in 0..<5 { bell.ring(1000) } }
    #expect(try await eventually { !recorder.counts.isEmpty })
    let span = ContinuousClock.now - start
    #expect(recorder.levels == [.critical])
    // The first event at once, then one every 250 ms.
    #expect(recorder.events.count <= 3 + Int(span / .milliseconds(250)))
  }

  @Test func aSignalAfterAFloodIsReported() async throws {
    let (recorder, bell) = (EventRecorder(), Doorbell(.fifo))
    let monitor = try PressureMonitor.quick(
      .systemd, surroundings(bell), quiet: .milliseconds(300), handler: recorder.handler)
    defer { monitor.stop() }
    for round in 1...3 {
      try await onThread { bell.ring() }
      #expect(try await eventually { recorder.levels.filter { $0 == .critical }.count == round })
      #expect(try await eventually { recorder.levels.filter { $0 == .normal }.count == round })
    }
    #expect(recorder.levels == [.critical, .normal, .critical, .normal, .critical, .normal])
  }

  @Test func memoryUsageRaisesTheLevelAndLowersIt() async throws {
    let system = try FakeSystem.withEvents()
    let recorder = EventRecorder()
    let monitor = try PressureMonitor.quick(
      .rss, system.surroundings(), quiet: .milliseconds(50), handler: recorder.handler)
    defer { monitor.stop() }
    try system.hold(mebibytes: 80)
    #expect(try await eventually { recorder.levels.last == .warning })
    try system.hold(mebibytes: 93)
    #expect(try await eventually { recorder.levels.last == .critical })
    #expect(monitor.snapshot.cause.map { "\($0)" } == "rss: 93 % of the limit of 100 MiB (cgroup v2)")
    try system.hold(mebibytes: 70)
    #expect(try await eventually { monitor.snapshot.usage.resident == 70 << 20 })
    #expect(monitor.snapshot.level == .critical)
    try system.hold(mebibytes: 60)
    #expect(try await eventually { recorder.levels.last == .normal })
    #expect(recorder.levels == [.warning, .critical, .normal])
  }

  @Test func lostSignalsAreReportedOnceAndUsageIsStillMeasured() async throws {
    let system = try FakeSystem.withEvents()
    let (recorder, bell) = (EventRecorder(), Doorbell(.socket))
    let variables = ["MEMORY_PRESSURE_WATCH": bell.path]
    let monitor = try PressureMonitor.quick(.auto, system.surroundings(variables), handler: recorder.handler)
    defer { monitor.stop() }
    #expect(monitor.snapshot.signals == .systemd)
    try await onThread { bell.leave() }
    #expect(try await eventually { !recorder.lost.isEmpty })
    #expect(monitor.snapshot.signals == .rss)
    try system.hold(mebibytes: 99)
    #expect(try await eventually { recorder.levels == [.critical] })
    #expect(recorder.lost == [PressureCause(signals: .systemd, reason: "\(bell.path): closed by the other side")])
  }

  @Test func aSignalBeforeTheOtherSideClosesIsReported() async throws {
    let (recorder, bell) = (EventRecorder(), Doorbell(.socket))
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell), handler: recorder.handler)
    defer { monitor.stop() }
    try await onThread {
      bell.ring()
      bell.leave()
    }
    #expect(try await eventually { recorder.levels == [.critical] && recorder.lost.count == 1 })
  }

  // MARK: Opening

  /// A monitor, and the usable signals once they are opened.
  private func opened(at time: Duration, _ choice: PressureSignalChoice, _ surroundings: Surroundings) throws
    -> (PressureMonitor, LockedBox<[PressureSignalChoice]?>)
  {
    let names = LockedBox<[PressureSignalChoice]?>(nil)
    var rules = PressureRules()
    rules.sampling = .milliseconds(20)
    rules.openingDelay = time
    let monitor = try PressureMonitor(
      signals: choice, rules: rules, in: surroundings,
      onOpening: { reports in names.change { $0 = reports.filter(\.isUsable).map(\.signals) } }, handler: { _ in })
    return (monitor, names)
  }

  @Test func signalsThatNothingRequestsAreOpenedLater() async throws {
    let system = try FakeSystem.withEvents()
    let (early, unopened) = try opened(at: .seconds(3600), .auto, system.surroundings())
    defer { early.stop() }
    #expect(early.snapshot.signals == .rss && unopened.value == nil)
    try system.hold(mebibytes: 93)
    #expect(try await eventually { early.snapshot.level == .critical })
    #expect(unopened.value == nil)
    let (late, names) = try opened(at: .milliseconds(50), .auto, system.surroundings())
    defer { late.stop() }
    #expect(try await eventually { names.value != nil })
    #expect(names.value == [.cgroup2, .rss] && late.snapshot.signals == .cgroup2)
  }

  @Test func signalsThatAreRequestedAreOpenedAtOnce() throws {
    let bell = Doorbell(.fifo)
    for choice in [PressureSignalChoice.auto, .systemd] {
      let (monitor, names) = try opened(at: .seconds(3600), choice, surroundings(bell))
      #expect(names.value?.first == .systemd && monitor.snapshot.signals == .systemd)
      monitor.stop()
    }
  }

  @Test func aMonitorThatIsStoppedInItsHandlerOpensNoSignals() async throws {
    let system = try FakeSystem.withEvents()
    try system.hold(mebibytes: 93)
    let isMade = Gate()
    let (monitor, opened) = (LockedBox<PressureMonitor?>(nil), LockedBox(false))
    let made = try PressureMonitor.quick(
      .auto, system.surroundings(),
      handler: { _ in
        isMade.pass()
        monitor.value?.stop()
      }, onOpening: { _ in opened.change { $0 = true } })
    monitor.change { $0 = made }
    isMade.open()
    #expect(try await eventually { made.processorTime != nil })
    #expect(!opened.value && made.snapshot.level == .critical && made.snapshot.signals == .rss)
    monitor.change { $0 = nil }
  }

  // MARK: Stopping

  @Test func offWatchesNothing() throws {
    let reports = LockedBox<[PressureSignalReport]?>(nil)
    let monitor = try PressureMonitor.quick(
      .off, system.surroundings(), onOpening: { opened in reports.change { $0 = opened } })
    #expect(monitor.snapshot.signals == .off && monitor.snapshot.level == .normal && reports.value == [])
    monitor.stop()
  }

  @Test func stoppingFromTheHandlerEndsTheThread() async throws {
    let (bell, recorder, itself) = (Doorbell(.fifo), EventRecorder(), LockedBox<PressureMonitor?>(nil))
    let record = recorder.handler
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell)) { event in
      itself.value?.stop()
      itself.value?.stop()
      record(event)
    }
    itself.change { $0 = monitor }
    try await onThread { bell.ring() }
    #expect(try await eventually { monitor.processorTime != nil })
    #expect(recorder.events.count == 1)
    itself.change { $0 = nil }
  }

  @Test func stoppingDoesNotBlockAndNoEventFollows() async throws {
    let (bell, recorder, gate) = (Doorbell(.fifo), EventRecorder(), Gate())
    let record = recorder.handler
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell)) { event in
      record(event)
      gate.pass()
    }
    try await onThread {
      bell.ring()
      gate.awaitArrivals(1)
      bell.ring()
      for _ in 0..<3 { monitor.stop() }
      gate.open()
    }
    #expect(try await eventually { monitor.processorTime != nil })
    #expect(recorder.events.count == 1)
  }

  @Test func anUnreferencedMonitorStopsAndClosesItsFiles() async throws {
    let bell = Doorbell(.fifo)
    let alive = LockedBox(0)
    final class Witness: Sendable {
      let alive: LockedBox<Int>
      init(_ alive: LockedBox<Int>) {
        self.alive = alive
        alive.change { $0 += 1 }
      }
      deinit { alive.change { $0 -= 1 } }
    }
    // Few at a time, because each needs open files until its thread has ended.
    for _ in 0..<20 {
      for _ in 0..<10 {
        let witness = Witness(alive)
        _ = try PressureMonitor.quick(.systemd, surroundings(bell)) { _ in _ = witness }
      }
      #expect(try await eventually { alive.value == 0 })
    }
    // A FIFO without a reader cannot be opened for writing without blocking.
    #expect(
      try await eventually {
        let writer = open(bell.path, O_WRONLY | O_NONBLOCK)
        if writer >= 0 { close(writer) }
        return writer < 0
      })
  }

  @Test func concurrentStopsAndSignalsAreSafe() async throws {
    for _ in 0..<50 {
      let bell = Doorbell(.fifo)
      let monitor = try PressureMonitor.quick(.systemd, surroundings(bell)) { _ in }
      async let ringing: Void = onThread { for _ in 0..<20 { bell.ring() } }
      async let looking = onThread { (0..<100).map { _ in monitor.snapshot.level }.count }
      // The signals end before the reading end is closed.
      try await ringing
      async let one: Void = onThread { monitor.stop() }
      async let other: Void = onThread { monitor.stop() }
      _ = try await (looking, one, other)
      #expect(try await eventually { monitor.processorTime != nil })
    }
  }
}
