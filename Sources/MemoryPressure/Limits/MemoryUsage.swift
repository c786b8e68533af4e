import Foundation

/// Memory in use, in bytes.
public struct MemoryUsage: Equatable, Sendable {
  /// The physical memory of this process.
  public var resident = 0
  /// The part of ``resident`` that is not backed by files. The rest, such as the program itself, is shared or can be
  /// read again, and may not be charged to the process's group.
  public var anonymous = 0
  /// The memory of all processes of the group that sets the limit, without the page cache, which the kernel can
  /// reclaim; nil if no group limits the process or its figures cannot be read.
  public var group: Int?

  /// The memory that cannot be reclaimed, of this process or its group, whichever is more, as a share of the limit.
  public func share(of limit: MemoryLimit) -> Double { Double(max(anonymous, group ?? 0)) / Double(limit.bytes) }
}

/// Measures ``MemoryUsage`` repeatedly. It reads two files that stay open; `ProcessStatus` would open its file each
/// time.
///
/// *Concurrency*: use it from one thread.
///
/// *Source*: proc_pid_statm(5); `anon` in the kernel's cgroup-v2 document, `total_rss` in its cgroup-v1/memory.
package final class UsageReader {
  private let statm: CounterFile?
  private let group: CounterFile?
  private let groupName: StaticString
  private let pageSize = Int(sysconf(CInt(_SC_PAGESIZE)))

  package init(limit: MemoryLimit, surroundings: Surroundings) {
    statm = try? CounterFile(surroundings.root + "/proc/self/statm")
    let (folder, name): (String?, StaticString) =
      switch limit.origin {
      case .cgroup2(let folder): (folder, "anon")
      case .cgroup1(let folder): (folder, "total_rss")
      case .machine: (nil, "")
      }
    group = folder.flatMap { try? CounterFile("\(surroundings.root)\($0)/memory.stat") }
    groupName = name
  }

  package func read() -> MemoryUsage {
    var usage = own() ?? MemoryUsage()
    usage.group = group.flatMap { $0.refresh() ? $0.number(after: groupName) : nil }
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
      // In pages: the second figure is the resident memory, the third its file-backed part.
      guard let statm, statm.refresh(), let resident = statm.number(at: 1), let shared = statm.number(at: 2) else {
        return nil
      }
      return MemoryUsage(resident: resident * pageSize, anonymous: max(0, resident - shared) * pageSize)
    #endif
  }
}
