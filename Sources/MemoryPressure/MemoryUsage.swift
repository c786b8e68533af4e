import Foundation

/// How much memory is held, in bytes.
public struct MemoryUsage: Equatable, Sendable {
  /// What this process holds in physical memory.
  public var resident = 0
  /// What the group whose limit counts holds, all its processes together, without the page cache, which the kernel takes
  /// back when it needs to; nil where no group limits the process or its figures cannot be read.
  public var group: Int?

  /// The larger of the two, as a share of a limit.
  public func share(of limit: MemoryLimit) -> Double { Double(max(resident, group ?? 0)) / Double(limit.bytes) }

  /// What is held now, by this process and by the group that `limit` is from.
  public static func now(under limit: MemoryLimit) -> MemoryUsage {
    UsageReader(limit: limit, surroundings: Surroundings()).read()
  }
}

/// Measures ``MemoryUsage`` again and again: two reads of files that stay open.
///
/// *Concurrency*: for one thread.
///
/// *Source*: proc_pid_statm(5); `anon` in the kernel's cgroup-v2 document, `total_rss` in its cgroup-v1/memory.
final class UsageReader {
  private let own: CounterFile?
  private let group: CounterFile?
  private let groupName: StaticString
  private let pageSize = Int(sysconf(CInt(_SC_PAGESIZE)))

  init(limit: MemoryLimit, surroundings: Surroundings) {
    own = try? CounterFile(surroundings.root + "/proc/self/statm")
    let (folder, name): (String?, StaticString) =
      switch limit.origin {
      case .cgroup2(let folder): (folder, "anon")
      case .cgroup1(let folder): (folder, "total_rss")
      case .machine: (nil, "")
      }
    group = folder.flatMap { try? CounterFile("\(surroundings.root)\($0)/memory.stat") }
    groupName = name
  }

  func read() -> MemoryUsage {
    MemoryUsage(resident: resident ?? 0, group: group.flatMap { $0.refresh() ? $0.number(after: groupName) : nil })
  }

  /// Nil where it cannot be told.
  var resident: Int? {
    #if canImport(Darwin)
      var info = mach_task_basic_info()
      var count = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
      let status = withUnsafeMutablePointer(to: &info) { pointer in
        pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
          task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
        }
      }
      return status == KERN_SUCCESS ? Int(info.resident_size) : nil
    #else
      // The second figure of the line, in pages.
      return own.flatMap { $0.refresh() ? $0.secondNumber : nil }.map { $0 * pageSize }
    #endif
  }
}
