import Files
import Foundation

/// The limited process's part of a ``MemoryCage``. It puts itself under the limit before it begins its work.
public enum Confinement {
  /// Moves this process into a group. Memory that it already holds, which is the program itself, stays charged to its
  /// former group.
  ///
  /// - Returns: false if it cannot be moved.
  public static func join(group folder: String) -> Bool {
    (try? CgroupFile.write("0", to: "\(folder)/cgroup.procs")) != nil
  }

  /// Moves this process out of its group and removes the group, when the process that created it has died.
  public static func abandon(group folder: String) {
    guard let slash = folder.lastIndex(of: "/") else { return }
    if join(group: String(folder[..<slash])) { CgroupFile.remove(folder) }
  }

  /// Limits the address space of this process to that mapped now, plus `bytes`, plus the stacks of its threads, which
  /// are mapped whole although little of them is used.
  ///
  /// - Returns: false if it cannot be limited.
  public static func limitAddressSpace(to bytes: Int, threads: Int) -> Bool {
    #if os(Linux)
    guard let memory = ProcessStatus()?.memory else { return false }
    var stack = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &stack)
    let stacks = threads * Int(min(stack.rlim_cur, 8 << 20))
    let limit = rlim_t(memory.mapped + bytes + stacks)
    var both = rlimit(rlim_cur: limit, rlim_max: limit)
    return setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &both) == 0
    #else
    return false
    #endif
  }
}
