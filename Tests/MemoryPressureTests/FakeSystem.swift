import Foundation
import TestSupport

@testable import MemoryPressure

/// A fake `/proc` and cgroup tree in a temporary folder.
final class FakeSystem: Sendable {
  static let legacyMount = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
  static let unifiedMount = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
  static let hybridMount = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

  private let folder = TemporaryFolder()

  /// A machine of 8 GiB.
  init(mounts: String, groups: String) throws {
    try file("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:  1 kB\n")
    try file("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/root rw\n" + mounts)
    try file("/proc/self/cgroup", groups)
    try hold(mebibytes: 10)
  }

  /// One group of version 2 with a limit of 100 MiB and limit events, but without stalls.
  static func withEvents() throws -> FakeSystem {
    let system = try FakeSystem(mounts: unifiedMount, groups: "0::/job\n")
    try system.file("/sys/fs/cgroup/job/cgroup.events", "populated 1\n")
    try system.file("/sys/fs/cgroup/job/memory.max", "\(100 << 20)\n")
    try system.file("/sys/fs/cgroup/job/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n")
    return system
  }

  /// Writes a file and the folders above it. An existing file is overwritten in place, so that open descriptors see it.
  func file(_ path: String, _ contents: String) throws {
    let url = URL(fileURLWithPath: folder.path + path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(contents.utf8).write(to: url)
  }

  /// Sets the memory that the process appears to use.
  func hold(mebibytes: Int) throws {
    try file("/proc/self/statm", "90000 \(mebibytes * (1 << 20) / Int(sysconf(CInt(_SC_PAGESIZE)))) 0 1 0 200 0\n")
  }

  func surroundings(_ variables: [String: String] = [:]) -> Surroundings {
    Surroundings(root: folder.path, variables: variables)
  }

  var limit: MemoryLimit { MemoryLimit.find(in: surroundings()) }
}
