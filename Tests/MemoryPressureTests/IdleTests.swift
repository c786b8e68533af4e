import Foundation
import TestSupport
import Testing

@testable import MemoryPressure

/// The monitor's thread is idle between signals of every kind: it uses less than a tenth of a processor. Its own clock
/// measures that, so that a busy loop is found even on a busy machine.
extension PressureMonitorTests {
  private func expectIdle(
    _ choice: PressureSignalChoice, _ surroundings: Surroundings, location: SourceLocation = #_sourceLocation,
    after event: @escaping @Sendable () -> Void = {}
  ) async throws {
    let monitor = try PressureMonitor(signals: choice, rules: PressureRules(), in: surroundings) { _ in }
    try await onThread(event)
    try await expectIdle(monitor, location: location)
  }

  /// Waits a second, stops the monitor, and checks its processor time.
  private func expectIdle(_ monitor: PressureMonitor, location: SourceLocation) async throws {
    let start = ContinuousClock.now
    try await Task.sleep(for: .seconds(1))
    monitor.stop()
    // A busy machine wakes the test late, while the monitor goes on sampling.
    let span = ContinuousClock.now - start
    #expect(try await eventually { monitor.processorTime != nil }, sourceLocation: location)
    let used = try #require(monitor.processorTime)
    #expect(used < span / 10, "in \(span)", sourceLocation: location)
  }

  @Test func usageSignalsAloneAreIdle() async throws {
    try await expectIdle(.rss, Surroundings(variables: [:]))
  }

  @Test func theCountersOfAGroupAreIdle() async throws {
    let system = try FakeSystem.withEvents()
    try await expectIdle(.cgroup2, system.surroundings())
  }

  @Test(arguments: Doorbell.Kind.allCases) func aFIFOOrSocketIsIdleAfterItsWriterHasLeft(_ kind: Doorbell.Kind)
    async throws
  {
    let bell = Doorbell(kind)
    try await expectIdle(.systemd, Surroundings(variables: ["MEMORY_PRESSURE_WATCH": bell.path])) {
      bell.ring(3)
      bell.leave()
    }
  }

  @Test(.enabled(if: access("/proc/pressure/memory", W_OK) == 0, "the kernel reports no stalls here"))
  func aStallFileIsIdleAlthoughItIsAlwaysReadable() async throws {
    try await expectIdle(.psi, Surroundings(variables: [:]))
    let variables = ["MEMORY_PRESSURE_WATCH": "/proc/pressure/memory", "MEMORY_PRESSURE_WRITE": RealGroup.trigger]
    try await expectIdle(.systemd, Surroundings(variables: variables))
  }

  @Test(.enabled(if: RealGroup.canBeMade, "no cgroup can be created here"))
  func aStallFileThatVanishesIsReportedOnceAndIsIdleAfterwards() async throws {
    let (group, recorder) = (try #require(RealGroup()), EventRecorder())
    let variables = ["MEMORY_PRESSURE_WATCH": group.stalls, "MEMORY_PRESSURE_WRITE": RealGroup.trigger]
    let monitor = try PressureMonitor(
      signals: .systemd, rules: PressureRules(), in: Surroundings(variables: variables), handler: recorder.handler)
    defer { monitor.stop() }
    group.remove()
    #expect(try await eventually { !recorder.lost.isEmpty })
    #expect(monitor.snapshot.signals == .rss)
    try await expectIdle(monitor, location: #_sourceLocation)
    #expect(recorder.lost == [PressureCause(signals: .systemd, reason: "\(group.stalls) is gone")])
  }
}

/// A cgroup of version 2 that a test creates below that of the process.
final class RealGroup: Sendable {
  /// For `$MEMORY_PRESSURE_WRITE`.
  static let trigger = Data("some 150000 2000000\0".utf8).base64EncodedString()

  private let folder: String

  init?() {
    guard let own = ControlGroups.find(.v2, in: Surroundings())?.folders.first else { return nil }
    folder = "\(own)/pressure-test-\(UUID())"
    guard mkdir(folder, 0o755) == 0 else { return nil }
    guard access(stalls, W_OK) == 0 else {
      remove()
      return nil
    }
  }

  deinit { remove() }

  static var canBeMade: Bool { RealGroup() != nil }

  var stalls: String { "\(folder)/memory.pressure" }

  func remove() { rmdir(folder) }
}
