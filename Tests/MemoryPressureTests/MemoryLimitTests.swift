import Foundation
import Testing

@testable import MemoryPressure

@Suite(.timeLimit(.minutes(5))) struct MemoryLimitTests {
  @Test func thePhysicalMemoryIsTheLimitWithoutGroups() throws {
    let system = try FakeSystem(mounts: "", groups: "0::/\n")
    #expect(system.limit == MemoryLimit(bytes: 8 << 30, origin: .machine))
    #expect("\(system.limit)" == "8 GiB (physical memory)")
  }

  @Test func aVersion1LimitOfAnyParentGroupApplies() throws {
    let system = try FakeSystem(
      mounts: FakeSystem.legacyMount, groups: "4:memory:/outer/inner/own\n3:cpuset:/elsewhere\n0::/\n")
    let base = "/sys/fs/cgroup/memory"
    try system.file("\(base)/memory.limit_in_bytes", "9223372036854771712\n")
    try system.file("\(base)/outer/inner/own/memory.limit_in_bytes", "9223372036854771712\n")
    #expect(system.limit.origin == .machine)
    try system.file("\(base)/outer/memory.limit_in_bytes", "\(192 << 20)\n")
    #expect(system.limit == MemoryLimit(bytes: 192 << 20, origin: .cgroup1(folder: "\(base)/outer")))
    #expect("\(system.limit)" == "192 MiB (cgroup v1)")
    try system.file("\(base)/outer/inner/own/memory.limit_in_bytes", "\(64 << 20)\n")
    #expect(system.limit == MemoryLimit(bytes: 64 << 20, origin: .cgroup1(folder: "\(base)/outer/inner/own")))
  }

  @Test func aVersion2LimitOfAnyParentGroupAppliesHighOrMax() throws {
    let system = try FakeSystem(mounts: FakeSystem.unifiedMount, groups: "0::/slice/service\n")
    let base = "/sys/fs/cgroup/slice"
    try system.file("\(base)/service/memory.max", "max\n")
    try system.file("\(base)/service/memory.high", "max\n")
    #expect(system.limit.origin == .machine)
    try system.file("\(base)/memory.max", "\(1 << 30)\n")
    #expect(system.limit == MemoryLimit(bytes: 1 << 30, origin: .cgroup2(folder: base)))
    try system.file("\(base)/service/memory.high", "\(300 << 20)\n")
    #expect(system.limit == MemoryLimit(bytes: 300 << 20, origin: .cgroup2(folder: "\(base)/service")))
    #expect("\(system.limit)" == "300 MiB (cgroup v2)")
  }

  @Test func theLowerLimitOfBothVersionsAppliesInHybridMode() throws {
    let system = try FakeSystem(
      mounts: FakeSystem.legacyMount + FakeSystem.hybridMount, groups: "4:memory:/a\n0::/b\n")
    try system.file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "\(200 << 20)\n")
    try system.file("/sys/fs/cgroup/unified/b/cgroup.events", "populated 1\n")
    #expect(system.limit == MemoryLimit(bytes: 200 << 20, origin: .cgroup1(folder: "/sys/fs/cgroup/memory/a")))
    try system.file("/sys/fs/cgroup/unified/b/memory.max", "\(100 << 20)\n")
    #expect(system.limit == MemoryLimit(bytes: 100 << 20, origin: .cgroup2(folder: "/sys/fs/cgroup/unified/b")))
  }

  @Test func theGroupIsFoundBelowTheMountInAContainer() throws {
    let mount = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    let system = try FakeSystem(mounts: mount, groups: "4:memory:/docker/abc/child\n")
    let base = "/sys/fs/cgroup/memory"
    try system.file("\(base)/memory.limit_in_bytes", "\(500 << 20)\n")
    try system.file("\(base)/child/memory.limit_in_bytes", "9223372036854771712\n")
    #expect(system.limit == MemoryLimit(bytes: 500 << 20, origin: .cgroup1(folder: base)))
  }

  @Test(arguments: ["0::/elsewhere\n", "0::/../../host\n", "0::/\n"])
  func aGroupOutsideTheMountIsTreatedAsItsTop(_ groups: String) throws {
    let mount = "30 24 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    let system = try FakeSystem(mounts: mount, groups: groups)
    try system.file("/sys/fs/cgroup/memory.max", "\(500 << 20)\n")
    #expect(system.limit == MemoryLimit(bytes: 500 << 20, origin: .cgroup2(folder: "/sys/fs/cgroup")))
  }

  @Test func aLimitAboveTheVisibleGroupsIsFoundInTheStatistics() throws {
    let system = try FakeSystem(mounts: FakeSystem.legacyMount, groups: "4:memory:/own\n")
    let base = "/sys/fs/cgroup/memory"
    try system.file("\(base)/own/memory.limit_in_bytes", "9223372036854771712\n")
    try system.file("\(base)/own/memory.stat", "cache 5\nhierarchical_memory_limit 104857600\ntotal_rss 7\n")
    #expect(system.limit == MemoryLimit(bytes: 100 << 20, origin: .cgroup1(folder: base)))
  }

  @Test func invalidFilesSetNoLimit() throws {
    let system = try FakeSystem(mounts: "nonsense\n - \n1 2 3 4 - cgroup2\n", groups: "::\n:\n\n")
    #expect(system.limit.origin == .machine)
    try system.file("/proc/self/mountinfo", FakeSystem.unifiedMount)
    try system.file("/proc/self/cgroup", "0::/\n")
    for nonsense in ["0\n", "-1\n", "\n", "99999999999999999999\n", "lots\n"] {
      try system.file("/sys/fs/cgroup/memory.max", nonsense)
      #expect(system.limit.origin == .machine)
    }
  }

  @Test(arguments: ["0", "-5", "9007199254740993", "lots"]) func anImpossibleMemoryOfTheMachineIsNotUsed(
    _ kibibytes: String
  ) throws {
    let system = try FakeSystem(mounts: "", groups: "0::/\n")
    try system.file("/proc/meminfo", "MemTotal: \(kibibytes) kB\n")
    #expect(system.limit == MemoryLimit(bytes: Int(ProcessInfo.processInfo.physicalMemory), origin: .machine))
  }

  @Test func usageCoversTheProcessAndItsGroupWithoutPageCache() throws {
    let legacy = try FakeSystem(mounts: FakeSystem.legacyMount, groups: "4:memory:/own\n")
    try legacy.file("/sys/fs/cgroup/memory/own/memory.limit_in_bytes", "\(100 << 20)\n")
    try legacy.file(
      "/sys/fs/cgroup/memory/own/memory.stat", "cache 9\nrss 1\ntotal_cache 8\ntotal_rss_huge 3\ntotal_rss 77\n")
    try legacy.file("/proc/self/status", "VmRSS:\t  10240 kB\nRssShmem:\t   2048 kB\n")
    #expect(usage(of: legacy) == MemoryUsage(resident: 10 << 20, anonymous: 10 << 20, group: 77))
    let unified = try FakeSystem.withEvents()
    try unified.file("/sys/fs/cgroup/job/memory.stat", "anon 66\nfile 12345\nanon_thp 5\nshmem 100\nshmem_thp 7\n")
    #expect(usage(of: unified) == MemoryUsage(resident: 10 << 20, anonymous: 10 << 20, group: 166))
    let bare = try FakeSystem(mounts: "", groups: "")
    #expect(usage(of: bare) == MemoryUsage(resident: 10 << 20, anonymous: 10 << 20, group: nil))
  }

  private func usage(of system: FakeSystem) -> MemoryUsage {
    UsageReader(limit: system.limit, surroundings: system.surroundings()).read()
  }

  /// As the planes that decoder processes make: nothing can reclaim them.
  @Test func sharedMemoryCountsAsInUse() throws {
    let system = try FakeSystem(mounts: "", groups: "")
    try system.file("/proc/self/statm", "90000 \(10 << 20 / pageSize) \(9 << 20 / pageSize) 1 0 200 0\n")
    try system.file("/proc/self/status", "RssAnon:\t   1024 kB\nRssFile:\t   7168 kB\nRssShmem:\t   2048 kB\n")
    #expect(usage(of: system) == MemoryUsage(resident: 10 << 20, anonymous: 3 << 20, group: nil))
    let reader = UsageReader(limit: .ofThisProcess(), surroundings: Surroundings())
    let before = try #require(reader.own())
    let bytes = try #require(mmap(nil, 32 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
    defer { munmap(bytes, 32 << 20) }
    memset(bytes, 1, 32 << 20)
    // Other tests may give memory back meanwhile.
    #expect(try #require(reader.own()).anonymous - before.anonymous > 16 << 20)
  }

  private var pageSize: Int { Int(sysconf(CInt(_SC_PAGESIZE))) }

  @Test func theRealSystemHasALimitAndThisProcessUsesSomeOfIt() {
    let limit = MemoryLimit.ofThisProcess()
    #expect(limit.bytes > 0 && limit.bytes <= Int(ProcessInfo.processInfo.physicalMemory))
    let usage = UsageReader(limit: limit, surroundings: Surroundings()).read()
    #expect(usage.resident > 1 << 20)
    #expect(usage.share(of: limit) > 0)
  }
}
