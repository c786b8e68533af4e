import Foundation
import TestSupport
import Testing

@testable import MemoryPressure

/// Which signals can be used, and the texts that explain it.
@Suite(.timeLimit(.minutes(5))) struct PressureSignalTests {
  private func select(
    _ choice: PressureSignalChoice, _ system: FakeSystem, _ variables: [String: String] = [:]
  ) throws(PressureSignalError) -> PressureSignalSelection {
    try PressureSignalSelection(choice, in: system.surroundings(variables), under: system.limit)
  }

  private func reason(_ choice: PressureSignalChoice, _ system: FakeSystem, _ variables: [String: String] = [:])
    -> String
  {
    do throws(PressureSignalError) {
      _ = try select(choice, system, variables)
      return "usable"
    } catch {
      return error.reason
    }
  }

  private var bare: FakeSystem { get throws { try FakeSystem(mounts: "", groups: "0::/\n") } }

  @Test func onlyUsageIsLeftIfNoSignalsCanBeUsedAndEachReportSaysWhy() throws {
    let selection = try select(.auto, try bare)
    #expect(selection.provider == nil)
    #expect(selection.reports.map(\.signals) == [.systemd, .cgroup2, .cgroup1, .psi, .rss])
    #expect(selection.reports.map(\.isUsable) == [false, false, false, false, true])
    #expect("\(selection.reports[0])" == "systemd: $MEMORY_PRESSURE_WATCH is not set")
    #expect("\(selection.reports[1])" == "cgroup2: no cgroup hierarchy of version 2 is mounted")
    #expect(
      selection.reports[2].explanation == "no cgroup of version 1 sets the limit, which is 8 GiB (physical memory)")
    #expect(selection.reports[3].explanation.hasSuffix("/proc/pressure/memory: No such file or directory"))
    #expect("\(selection.reports[4])" == "rss: the memory in use, compared with the limit of 8 GiB (physical memory)")
  }

  @Test func signalsChosenByNameThatCannotBeUsedAreAnError() throws {
    let error = #expect(throws: PressureSignalError.self) { try select(.cgroup2, try bare) }
    let text = error.map { "\($0)" }
    #expect(
      text
        == "pressure source cgroup2 cannot be used: no cgroup hierarchy of version 2 is mounted; "
        + "auto selects one that works"
    )
    #expect(try select(.rss, try bare).provider == nil)
    #expect(try select(.off, try bare).reports.isEmpty)
  }

  @Test func theVariablesOfTheProtocolAreChecked() throws {
    let (system, folder) = (try bare, TemporaryFolder())
    let watch = "MEMORY_PRESSURE_WATCH"
    #expect(reason(.systemd, system) == "$\(watch) is not set")
    #expect(reason(.systemd, system, [watch: "pressure"]) == "$\(watch) is not an absolute path: 'pressure'")
    #expect(reason(.systemd, system, [watch: ""]) == "$\(watch) is not set")
    #expect(
      reason(.systemd, system, [watch: folder("none")]) == "$\(watch): \(folder("none")): No such file or directory")
    #expect(reason(.systemd, system, [watch: "/dev/null"]) == "$\(watch) is /dev/null, which switches the signals off")
    #expect(reason(.systemd, system, [watch: folder.path]).contains("neither a PSI file nor a FIFO nor a socket"))
    let bell = Doorbell(.fifo)
    #expect(reason(.systemd, system, [watch: bell.path]) == "usable")
    #expect(
      reason(.systemd, system, [watch: bell.path, "MEMORY_PRESSURE_WRITE": "?!"])
        == "$MEMORY_PRESSURE_WRITE is not Base64: '?!'")
  }

  @Test func aFileThatIsNotTheKernelsIsNotWrittenTo() throws {
    let (system, folder) = (try bare, TemporaryFolder())
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder("file")))
    let variables = ["MEMORY_PRESSURE_WATCH": folder("file"), "MEMORY_PRESSURE_WRITE": "c29tZQA="]
    #expect(reason(.systemd, system, variables).contains("not one of the kernel's"))
    #expect(FileManager.default.contents(atPath: folder("file")) == Data("mine".utf8))
  }

  @Test func devNullSwitchesOffAllOtherSignals() throws {
    let selection = try select(.auto, try FakeSystem.withEvents(), ["MEMORY_PRESSURE_WATCH": "/dev/null"])
    #expect(selection.provider == nil)
    #expect(selection.reports.map(\.signals) == [.systemd, .rss])
  }

  @Test func invalidVariablesLetTheNextSignalsBeUsed() throws {
    let selection = try select(.auto, try FakeSystem.withEvents(), ["MEMORY_PRESSURE_WATCH": "relative"])
    #expect(selection.reports.map(\.signals) == [.systemd, .cgroup2, .rss])
    #expect(selection.provider is Cgroup2Signals)
    #expect(selection.reports[1].explanation == "limit events of the group /sys/fs/cgroup/job")
  }

  @Test func theTopmostGroupIsRejectedBecauseItIsTheMachine() throws {
    let system = try FakeSystem(mounts: FakeSystem.unifiedMount, groups: "0::/\n")
    try system.file("/sys/fs/cgroup/memory.pressure", "")
    #expect(reason(.cgroup2, system).contains("topmost group, /sys/fs/cgroup,"))
  }

  @Test func aVersion1GroupIsUsedWithoutLevelsIfTheseAreNotPermitted() throws {
    let system = try FakeSystem(mounts: FakeSystem.legacyMount, groups: "4:memory:/own\n")
    try system.file("/sys/fs/cgroup/memory/own/memory.limit_in_bytes", "\(100 << 20)\n")
    let selection = try select(.auto, system)
    #expect(selection.provider is Cgroup1Signals)
    #expect(selection.reports[2].explanation.contains("compared with its limit, without its pressure levels ("))
  }

  @Test func aVersion1GroupReportsItsLevels() throws {
    let system = try FakeSystem(mounts: FakeSystem.legacyMount, groups: "4:memory:/own\n")
    try system.file("/sys/fs/cgroup/memory/own/memory.limit_in_bytes", "\(100 << 20)\n")
    try system.file("/sys/fs/cgroup/memory/own/memory.pressure_level", "")
    try system.file("/sys/fs/cgroup/memory/own/cgroup.event_control", "")
    let provider = try #require(try select(.cgroup1, system).provider)
    #expect(
      provider.explanation
        == "the memory of the group /sys/fs/cgroup/memory/own compared with its limit, and its pressure levels")
    #expect(provider.watches.count == 2)
    // One read takes the whole count of a flood.
    var flood: UInt64 = 802
    let critical = provider.watches[1]
    #expect(write(critical.descriptor.number, &flood, 8) == 8)
    let cause = PressureCause(signals: .cgroup1, reason: "the kernel reports critical memory pressure")
    #expect(
      provider.handle(critical, at: 1, found: Int16(POLLIN), share: 0.5)
        == .signal(PressureSignal(level: .critical, cause: cause, count: 802)))
    #expect(provider.handle(critical, at: 1, found: Int16(POLLIN), share: 0.5) == .nothing)
    // Pressure from the page cache alone is read and ignored.
    #expect(write(critical.descriptor.number, &flood, 8) == 8)
    #expect(provider.handle(critical, at: 1, found: Int16(POLLIN), share: 0.49) == .nothing)
    #expect(provider.handle(critical, at: 1, found: Int16(POLLIN), share: 0.9) == .nothing)
  }

  @Test func theStallsOfAGroupCountOnlyIfThereIsMemoryToRelease() throws {
    let system = try FakeSystem.withEvents()
    try system.file("/sys/fs/cgroup/job/memory.pressure", "")
    let provider = try #require(try select(.cgroup2, system).provider)
    #expect(provider.explanation == "stalls and limit events of the group /sys/fs/cgroup/job")
    func reading(_ place: Int, share: Double) -> PressureReading {
      provider.handle(provider.watches[place], at: place, found: Int16(POLLPRI), share: share)
    }
    func stalled(_ level: PressureLevel, _ reason: String) -> PressureReading {
      .signal(PressureSignal(level: level, cause: PressureCause(signals: .cgroup2, reason: reason), count: 1))
    }
    #expect(reading(0, share: 0.49) == .nothing && reading(1, share: 0.49) == .nothing)
    #expect(reading(0, share: 0.5) == stalled(.warning, "some threads stalled on memory for 150 ms within 2 s"))
    #expect(reading(1, share: 0.5) == stalled(.critical, "all threads stalled on memory for 100 ms within 2 s"))
  }

  @Test(.enabled(if: RealGroup.canBeMade, "no cgroup can be created here"))
  func theOnlyLevelOfTheProtocolIsCritical() throws {
    let group = try #require(RealGroup())
    let variables = ["MEMORY_PRESSURE_WATCH": group.stalls, "MEMORY_PRESSURE_WRITE": RealGroup.trigger]
    let cause = PressureCause(signals: .systemd, reason: "event on \(group.stalls)")
    func reading(_ provider: any PressureSignalProvider, _ share: Double) -> PressureReading {
      provider.handle(provider.watches[0], at: 0, found: Int16(POLLPRI), share: share)
    }
    func signal(_ level: PressureLevel) -> PressureReading {
      .signal(PressureSignal(level: level, cause: cause, count: 1))
    }
    let limited = try #require(try select(.systemd, try .withEvents(), variables).provider)
    #expect(limited.watches.map(\.events) == [Int16(POLLPRI)])
    #expect(reading(limited, 0.49) == .nothing && reading(limited, 0.5) == signal(.critical))
    // Without a group limit, other processes hold the rest: it is at least a warning.
    let unlimited = try #require(try select(.systemd, try bare, variables).provider)
    #expect(reading(unlimited, 0.01) == signal(.warning) && reading(unlimited, 0.26) == signal(.critical))
  }

  @Test(.enabled(if: RealGroup.canBeMade, "no cgroup can be created here"))
  func aStallFileWithoutATriggerIsRefused() throws {
    let (group, system) = (try #require(RealGroup()), try bare)
    let watch = ["MEMORY_PRESSURE_WATCH": group.stalls]
    #expect(
      reason(.systemd, system, watch) == "$MEMORY_PRESSURE_WRITE is not set, so \(group.stalls) would never signal")
    let nonsense = watch.merging(["MEMORY_PRESSURE_WRITE": "bm9uc2Vuc2U="]) { $1 }
    #expect(reason(.systemd, system, nonsense) == "$MEMORY_PRESSURE_WATCH: \(group.stalls): Invalid argument")
  }

  @Test func limitEventsCountUnlessTheLimitIsReachedByCacheAlone() throws {
    let system = try FakeSystem.withEvents()
    let provider = try #require(try select(.cgroup2, system).provider)
    func sample(share: Double, high: Int, max: Int, oom: Int) throws -> PressureSignal? {
      try system.file("/sys/fs/cgroup/job/memory.events", "low 0\nhigh \(high)\nmax \(max)\noom \(oom)\noom_kill 0\n")
      return provider.sample(usage: MemoryUsage(), share: share)
    }
    #expect(try sample(share: 0.9, high: 0, max: 0, oom: 0) == nil)
    #expect(try sample(share: 0.49, high: 100, max: 200, oom: 0) == nil)
    #expect(try sample(share: 0.5, high: 100, max: 200, oom: 0) == nil)
    #expect(try sample(share: 0.5, high: 103, max: 200, oom: 0)?.level == .warning)
    #expect(try sample(share: 0.5, high: 103, max: 207, oom: 0)?.level == .critical)
    let signal = try sample(share: 0.1, high: 103, max: 207, oom: 2)
    #expect(signal?.level == .critical && signal?.count == 2)
    #expect(signal?.cause.reason == "the limit was reached and nothing could be freed")
  }

  @Test func theStallsOfTheMachineAreCriticalOnlyIfOurShareIsLarge() throws {
    let system = try bare
    try system.file("/proc/pressure/memory", "")
    let provider = try #require(try select(.psi, system).provider)
    func level(_ place: Int, share: Double) -> PressureLevel? {
      guard
        case .signal(let signal) = provider.handle(
          provider.watches[place], at: place, found: Int16(POLLPRI), share: share)
      else { return nil }
      return signal.level
    }
    #expect(level(0, share: 0.9) == .warning)
    #expect(level(1, share: 0.25) == .warning)
    #expect(level(1, share: 0.26) == .critical)
    // Half of the memory is available: another group is at its limit, not the machine.
    try system.file("/proc/meminfo", "MemTotal:        8388608 kB\nMemAvailable:    4194305 kB\n")
    #expect(level(1, share: 0.26) == nil)
    try system.file("/proc/meminfo", "MemTotal:        8388608 kB\nMemAvailable:    4194304 kB\n")
    #expect(level(1, share: 0.26) == .critical)
    let gone = provider.handle(provider.watches[0], at: 0, found: Int16(POLLERR | POLLPRI), share: 0)
    #expect(gone == .gone("/proc/pressure/memory is gone"))
    #expect(
      StallTrigger.both.map(\.reason) == [
        "some threads stalled on memory for 150 ms within 2 s", "all threads stalled on memory for 100 ms within 2 s",
      ])
  }

  @Test(.enabled(if: access("/proc/pressure/memory", W_OK) == 0, "the kernel reports no stalls here"))
  func theKernelAcceptsOurTriggers() throws {
    let selection = try PressureSignalSelection(.psi, in: Surroundings(variables: [:]), under: .ofThisProcess())
    #expect(selection.provider?.watches.count == 2)
  }
}
