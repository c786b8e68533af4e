import Files
import Foundation

/// The memory that this process may use, and the origin of this limit.
public struct MemoryLimit: Equatable, Sendable {
  public enum Origin: Equatable, Sendable {
    /// `memory.max` or `memory.high` of the group in this folder.
    case cgroup2(folder: String)
    /// `memory.limit_in_bytes` of the group in this folder, or a limit above it that only the group's statistics show.
    case cgroup1(folder: String)
    /// The physical memory of the machine; no group has a lower limit.
    case machine
  }

  public let bytes: Int
  public let origin: Origin

  /// The lowest of all limits on this process: those of its cgroup and of all groups above it, in version 1 and 2, and
  /// the machine's memory.
  ///
  /// *Source*: the kernel's cgroup-v2 document (`memory.max`, `memory.high`) and cgroup-v1/memory (`limit_in_bytes`,
  /// `hierarchical_memory_limit`).
  public static func ofThisProcess() -> MemoryLimit { find(in: Surroundings()) }

  package static func find(in surroundings: Surroundings) -> MemoryLimit {
    let kibibytes = surroundings.number("/proc/meminfo", after: "MemTotal:") ?? 0
    // A simulated file may have any number.
    let isPlausible = kibibytes > 0 && kibibytes < 1 << 50
    let machine = isPlausible ? kibibytes * 1024 : Int(ProcessInfo.processInfo.physicalMemory)
    var limits = [MemoryLimit(bytes: machine, origin: .machine)]
    let hierarchies = MountedHierarchies(in: surroundings)
    for folder in hierarchies.groups(.v2)?.folders ?? [] {
      for name in ["memory.max", "memory.high"] {
        guard let bytes = surroundings.number("\(folder)/\(name)") else { continue }
        limits.append(MemoryLimit(bytes: bytes, origin: .cgroup2(folder: folder)))
      }
    }
    let legacy = hierarchies.groups(.v1)?.folders ?? []
    for folder in legacy {
      guard let bytes = surroundings.number("\(folder)/memory.limit_in_bytes") else { continue }
      limits.append(MemoryLimit(bytes: bytes, origin: .cgroup1(folder: folder)))
    }
    // A container may not see the group that limits it. The topmost group that it sees is the closest to that one.
    if let own = legacy.first, let top = legacy.last,
      let bytes = surroundings.number("\(own)/memory.stat", after: "hierarchical_memory_limit")
    {
      limits.append(MemoryLimit(bytes: bytes, origin: .cgroup1(folder: top)))
    }
    // Version 1 expresses "no limit" as the largest number of whole pages, version 2 as a word.
    let real = limits.filter { $0.bytes > 0 && $0.bytes < 1 << 60 }
    return real.min { $0.bytes < $1.bytes } ?? limits[0]
  }
}

extension MemoryLimit: CustomStringConvertible {
  /// Such as `192 MiB (cgroup v1)`.
  public var description: String {
    let name =
      switch origin {
      case .cgroup2: "cgroup v2"
      case .cgroup1: "cgroup v1"
      case .machine: "physical memory"
      }
    return "\(ByteCount.limit(bytes)) (\(name))"
  }
}
