import MemoryPressure
import Testing

@testable import JobSettings

@Suite struct ProcessorCountTests {
  let tree: FileTree

  init() throws { tree = FileTree() }

  private var surroundings: Surroundings { Surroundings(root: tree.root.description, variables: [:]) }

  private let unified = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
  private let legacy = "31 24 0:27 /outer /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"

  @Test func atLeastOneProcessorIsUsable() {
    #expect(ProcessorCount.usable() >= 1)
  }

  @Test func allowedProcessorsAreCounted() throws {
    #expect(ProcessorCount.allowed(in: surroundings) == nil)
    try tree.file("proc/self/status", "Name:\tx\nCpus_allowed:\t7,0000ff01\nCpus_allowed_list:\t0-1\n")
    #expect(ProcessorCount.allowed(in: surroundings) == 12)
  }

  @Test func theLowestQuotaOfAVersion2GroupAndThoseAboveItCounts() throws {
    try tree.file("proc/self/mountinfo", unified)
    try tree.file("proc/self/cgroup", "0::/a/b\n")
    try tree.file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
    #expect(ProcessorCount.quota(in: surroundings) == nil)
    try tree.file("sys/fs/cgroup/a/cpu.max", "250000 100000\n")
    #expect(ProcessorCount.quota(in: surroundings) == 3)
    try tree.file("sys/fs/cgroup/a/b/cpu.max", "5000 100000\n")
    #expect(ProcessorCount.quota(in: surroundings) == 1)
  }

  @Test func aVersion1QuotaIsFoundRelativeToTheMountedGroup() throws {
    try tree.file("proc/self/mountinfo", legacy)
    try tree.file("proc/self/cgroup", "5:devices:/x\n4:cpu,cpuacct:/outer/inner\n0::/\n")
    try tree.file("sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us", "100000\n")
    try tree.file("sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "-1\n")
    #expect(ProcessorCount.quota(in: surroundings) == nil)
    try tree.file("sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "150000\n")
    #expect(ProcessorCount.quota(in: surroundings) == 2)
  }

  @Test func aGroupOutsideTheMountHasTheQuotaOfTheMountedGroup() throws {
    try tree.file("proc/self/mountinfo", unified + legacy)
    try tree.file("proc/self/cgroup", "4:cpu,cpuacct:/elsewhere\n0::/gone\n")
    try tree.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
    try tree.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000\n")
    #expect(ProcessorCount.quota(in: surroundings) == 4)
  }

  @Test func malformedFilesGiveNoQuota() throws {
    #expect(ProcessorCount.quota(in: surroundings) == nil)
    try tree.file("proc/self/mountinfo", "nonsense\n - \n" + unified)
    try tree.file("proc/self/cgroup", ":\n0::/\n")
    try tree.file("sys/fs/cgroup/cpu.max", "1e400 0\n")
    #expect(ProcessorCount.quota(in: surroundings) == nil)
  }
}
