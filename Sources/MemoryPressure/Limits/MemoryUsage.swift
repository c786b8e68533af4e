import Foundation

/// Memory in use, in bytes.
public struct MemoryUsage: Equatable, Sendable {
  /// The physical memory of this process.
  public var resident = 0
  /// The part of ``resident`` that is not backed by files on a disk: memory shared with other processes counts. The rest,
  /// such as the program itself, can be read again, and may not be charged to the process's group.
  public var anonymous = 0
  /// The memory of all processes of the group that sets the limit, with what they share and what is in file systems in
  /// memory, without the page cache, which the kernel can reclaim; nil if no group limits the process or its figures cannot
  /// be read.
  public var group: Int?

  /// The memory that cannot be reclaimed, of this process or its group, whichever is more, as a share of the limit.
  public func share(of limit: MemoryLimit) -> Double { Double(max(anonymous, group ?? 0)) / Double(limit.bytes) }
}

/// Measures ``MemoryUsage`` repeatedly. It reads files that stay open; `ProcessStatus` would open its file each time.
///
/// *Concurrency*: use it from one thread.
///
/// *Source*: proc_pid_statm(5), proc_pid_status(5); `anon` and `shmem` in the kernel's cgroup-v2 document, `total_rss` and
/// `total_shmem` in its cgroup-v1/memory.
package final class UsageReader {
  private let statm, status: CounterFile?
  private let group: CounterFile?
  /// The figures of the group that add up to its memory. Old kernels lack the second one.
  private let groupNames: (private: StaticString, shared: StaticString)
  private let pageSize = Int(sysconf(CInt(_SC_PAGESIZE)))

  package init(limit: MemoryLimit, surroundings: Surroundings) {
    statm = try? CounterFile(surroundings.root + "/proc/self/statm")
    status = try? CounterFile(surroundings.root + "/proc/self/status")
    let (folder, names): (String?, (StaticString, StaticString)) =
      switch limit.origin {
      case .cgroup2(let folder): (folder, ("anon", "shmem"))
      case .cgroup1(let folder): (folder, ("total_rss", "total_shmem"))
      case .machine: (nil, ("", ""))
      }
    group = folder.flatMap { try? CounterFile("\(surroundings.root)\($0)/memory.stat") }
    groupNames = names
  }

  package func read() -> MemoryUsage {
    var usage = own() ?? MemoryUsage()
    if let group, group.refresh(), let own = group.number(after: groupNames.private) {
      let (sum, isTooLarge) = own.addingReportingOverflow(group.number(after: groupNames.shared) ?? 0)
      usage.group = isTooLarge ? .max : sum
    }
    return usage
  }

  /// The usage of this process alone; nil if it cannot be read.
  package func own() -> MemoryUsage? {
    #if canImport(Darwin)
    var info = mach_task_basic_info()
    var count = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
    let status = withUnsafeMutablePointer(to: &info) { pointer in
      pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
        task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
      }
    }
    let resident = Int(info.resident_size)
    return status == KERN_SUCCESS ? MemoryUsage(resident: resident, anonymous: resident) : nil
    #else
    // In pages: the second figure is the resident memory, the third its part that is backed by files or shared.
    guard let statm, statm.refresh(), let resident = statm.number(at: 1), let shared = statm.number(at: 2) else {
      return nil
    }
    let own = max(0, resident - shared) * pageSize
    // The pages that a decoder has made and this process has read.
    let kibibytes = status.flatMap { $0.refresh() ? $0.number(after: "RssShmem:") : nil } ?? 0
    let all = resident * pageSize
    return MemoryUsage(resident: all, anonymous: min(own + min(kibibytes, 1 << 50) << 10, all))
    #endif
  }
}
