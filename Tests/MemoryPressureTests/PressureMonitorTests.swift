import Foundation
import TestSupport
import Testing

@testable import MemoryPressure

/// The monitor with its thread. One at a time, for they wait at gates.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PressureMonitorTests {
  private let system: FakeSystem

  init() throws { system = try FakeSystem(mounts: "", groups: "0::/\n") }

  private func surroundings(_ bell: Doorbell, write: String? = nil) -> Surroundings {
    var variables = ["MEMORY_PRESSURE_WATCH": bell.path]
    variables["MEMORY_PRESSURE_WRITE"] = write
    return system.surroundings(variables)
  }

  // MARK: What is told

  @Test(arguments: Doorbell.Kind.allCases) func aRingIsCriticalAtOnce(_ kind: Doorbell.Kind) async throws {
    let (recorder, bell) = (EventRecorder(), Doorbell(kind))
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell), handler: recorder.handler)
    defer { monitor.stop() }
    #expect(monitor.snapshot.level == .normal && monitor.snapshot.signals == .systemd)
    try await onThread { bell.ring() }
    #expect(try await eventually { !recorder.events.isEmpty })
    let cause = PressureCause(signals: .systemd, reason: "told by \(bell.path)")
    #expect(recorder.events == [.changed(from: .normal, to: .critical, cause)])
    #expect(monitor.snapshot.level == .critical && monitor.snapshot.cause == cause)
  }

  @Test func aSocketGetsWhatIsToBeWrittenAndAFifoDoesNot() async throws {
    let payload: [UInt8] = Array("some 1 2".utf8) + [0, 255, 0]
    let text = Data(payload).base64EncodedString()
    let socket = Doorbell(.socket)
    let monitor = try PressureMonitor.quick(.systemd, surroundings(socket, write: text))
    defer { monitor.stop() }
    #expect(try await onThread { socket.received(payload.count) } == payload)
    // Without a monitor, which would read what is in the FIFO.
    let fifo = Doorbell(.fifo)
    let answer = SystemdSignals.open(in: surroundings(fifo, write: text), under: system.limit)
    guard case .usable(let provider) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(provider.watches[0].descriptor.discard().any == false)
  }

  @Test func tenThousandRingsAreTakenInAsAFew() async throws {
    let (recorder, bell) = (EventRecorder(), Doorbell(.fifo))
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell), handler: recorder.handler)
    defer { monitor.stop() }
    let start = ContinuousClock.now
    try await onThread { for _ in 0..<10 { bell.ring(1000) } }
    #expect(try await eventually { !recorder.counts.isEmpty })
    let span = ContinuousClock.now - start
    #expect(recorder.levels == [.critical])
    // The first at once, then one each 250 ms.
    #expect(recorder.events.count <= 3 + Int(span / .milliseconds(250)))
  }

  @Test func afterAFloodTheNextRingIsHeard() async throws {
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

  @Test func theMemoryHeldRaisesTheLevelAndLowersIt() async throws {
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

  @Test func aLostSourceIsToldOnceAndTheMemoryHeldIsStillMeasured() async throws {
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

  @Test func aRingBeforeTheOtherSideLeavesIsHeard() async throws {
    let (recorder, bell) = (EventRecorder(), Doorbell(.socket))
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell), handler: recorder.handler)
    defer { monitor.stop() }
    try await onThread {
      bell.ring()
      bell.leave()
    }
    #expect(try await eventually { recorder.levels == [.critical] && recorder.lost.count == 1 })
  }

  // MARK: Stopping

  @Test func offWatchesNothing() throws {
    let monitor = try PressureMonitor.quick(.off, system.surroundings())
    #expect(monitor.snapshot.signals == .off && monitor.snapshot.level == .normal && monitor.reports.isEmpty)
    monitor.stop()
  }

  @Test func stoppingFromTheHandlerEndsTheThread() async throws {
    let (bell, recorder, itself) = (Doorbell(.fifo), EventRecorder(), LockedBox<PressureMonitor?>(nil))
    let hears = recorder.handler
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell)) { event in
      itself.value?.stop()
      itself.value?.stop()
      hears(event)
    }
    itself.change { $0 = monitor }
    try await onThread { bell.ring() }
    #expect(try await eventually { monitor.processorTime != nil })
    #expect(recorder.events.count == 1)
    itself.change { $0 = nil }
  }

  @Test func stoppingWaitsForNobodyAndNothingIsToldAfterwards() async throws {
    let (bell, recorder, gate) = (Doorbell(.fifo), EventRecorder(), Gate())
    let hears = recorder.handler
    let monitor = try PressureMonitor.quick(.systemd, surroundings(bell)) { event in
      hears(event)
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

  @Test func aMonitorNobodyHoldsAnyMoreStopsAndLeavesNoFileOpen() async throws {
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
    for _ in 0..<200 {
      let witness = Witness(alive)
      _ = try PressureMonitor.quick(.systemd, surroundings(bell)) { _ in _ = witness }
    }
    #expect(try await eventually { alive.value == 0 })
    // A FIFO that nobody reads any more cannot be opened for writing without waiting.
    #expect(
      try await eventually {
        let writer = open(bell.path, O_WRONLY | O_NONBLOCK)
        if writer >= 0 { close(writer) }
        return writer < 0
      })
  }

  @Test func manyStopsAndRingsAtOnceAreSafe() async throws {
    for _ in 0..<50 {
      let bell = Doorbell(.fifo)
      let monitor = try PressureMonitor.quick(.systemd, surroundings(bell)) { _ in }
      async let ringing: Void = onThread { for _ in 0..<20 { bell.ring() } }
      async let looking = onThread { (0..<100).map { _ in monitor.snapshot.level }.count }
      // The ringing ends before the reading end may go.
      try await ringing
      async let one: Void = onThread { monitor.stop() }
      async let other: Void = onThread { monitor.stop() }
      _ = try await (looking, one, other)
      #expect(try await eventually { monitor.processorTime != nil })
    }
  }
}
