import Files
import Foundation
import MemoryPressure

/// The number of processors that this process may use: those it may run on, or fewer if its cgroup has a quota of
/// processor time.
package enum ProcessorCount {
  /// The number, at least 1. A quota of one and a half processors counts as 2, because otherwise the half would be
  /// wasted.
  ///
  /// - Source: proc(5), `status`; the kernel's cgroup-v2 (`cpu.max`) and sched-bwc (`cpu.cfs_quota_us`) documents.
  package static func usable() -> Int { found }

  /// The number is determined once.
  private static let found: Int = {
    // Not `activeProcessorCount`, which reads quotas too, and takes ten times as long. sysconf returns −1 if the number is
    // unknown; that counts as one.
    let (online, surroundings) = (sysconf(Int32(_SC_NPROCESSORS_ONLN)), Surroundings())
    return max(1, min(online, allowed(in: surroundings) ?? .max, quota(in: surroundings) ?? .max))
  }()

  /// The lowest quota of the process's cgroup and those above it, in processors, rounded up; nil if there is none.
  static func quota(in surroundings: Surroundings) -> Int? {
    let hierarchies = MountedHierarchies(in: surroundings)
    let unified = hierarchies.groups(.v2)?.folders ?? []
    let legacy = hierarchies.groups(.v1, for: "cpu")?.folders ?? []
    let shares =
      unified.compactMap { unifiedShare($0, surroundings) } + legacy.compactMap { legacyShare($0, surroundings) }
    return shares.min().map { max(1, Int($0.rounded(.up))) }
  }

  /// Reads `cpu.max`: quota and period in microseconds, or `max`.
  private static func unifiedShare(_ folder: String, _ surroundings: Surroundings) -> Double? {
    let words = surroundings.lines("\(folder)/cpu.max").first?.fields(" ") ?? []
    return words.count == 2 ? share(quota: words[0], period: words[1]) : nil
  }

  private static func legacyShare(_ folder: String, _ surroundings: Surroundings) -> Double? {
    guard let quota = surroundings.lines("\(folder)/cpu.cfs_quota_us").first,
      let period = surroundings.lines("\(folder)/cpu.cfs_period_us").first
    else { return nil }
    return share(quota: quota, period: period)
  }

  /// The quota in processors; nil if there is none: `max`, −1, or a period of zero.
  private static func share(quota: Substring, period: Substring) -> Double? {
    guard let quota = Double(quota), let period = Double(period), quota > 0, period > 0 else { return nil }
    return min(quota / period, 1_000_000)
  }

  /// How many processors the process may run on, according to its affinity and the cpuset of its cgroup; nil if the
  /// system does not report it. Processors that are off may be included.
  static func allowed(in surroundings: Surroundings) -> Int? {
    ProcessStatus(root: surroundings.root)?.allowedProcessors
  }
}
