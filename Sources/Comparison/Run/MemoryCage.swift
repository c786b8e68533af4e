import Files
import Foundation
import MemoryPressure

/// A limit on the memory of one process: a memory cgroup below that of this process or, where none can be created, a
/// limit on address space.
///
/// *Concurrency*: for one thread.
///
/// *Source*: the kernel's documents cgroup-v1/memory and cgroup-v2; getrlimit(2).
public final class MemoryCage {
  public enum Kind: String, Codable, Sendable {
    case cgroup1 = "cgroup_v1"
    case cgroup2 = "cgroup_v2"
    case addressSpace = "address_space"

    /// The words that follow an amount of memory.
    public var displayName: String {
      switch self {
      case .cgroup1: "enforced by a memory cgroup (v1)"
      case .cgroup2: "enforced by a memory cgroup (v2)"
      case .addressSpace:
        "as address space in addition to that mapped at its start, because no memory cgroup can be created here"
      }
    }
  }

  public let kind: Kind
  /// The folder of the group; nil for a limit on address space.
  public let folder: String?

  /// The memory that this program holds by itself. Under a smaller limit, it would thrash before its work begins.
  public static var leastBytes: Int { ProcessStatus()?.memory?.anonymous ?? 0 }

  /// The kind that works here. To find out, this creates a group and removes it.
  public static func usableKind(bytes: Int, name: String) -> Kind {
    for kind in [Kind.cgroup1, .cgroup2] {
      guard let cage = try? MemoryCage(kind, bytes: bytes, name: name) else { continue }
      cage.remove()
      return kind
    }
    return .addressSpace
  }

  /// - Parameters:
  ///   - bytes: the limit.
  ///   - name: the name of the group. A group of this name that a killed process has left is removed.
  /// - Throws: ``MemoryCageError`` if there cannot be a limit of this kind; it is never replaced by another kind.
  public init(_ kind: Kind, bytes: Int, name: String) throws(MemoryCageError) {
    self.kind = kind
    switch kind {
    case .cgroup1: folder = try Self.makeGroup(name, .v1, bytes)
    case .cgroup2: folder = try Self.makeGroup(name, .v2, bytes)
    case .addressSpace: folder = nil
    }
  }

  /// Removes the groups that killed processes have left.
  ///
  /// - Parameter prefix: how the names of the groups begin. The id of the process that created the group follows.
  public static func sweep(_ kind: Kind, _ prefix: String) {
    guard kind != .addressSpace,
      let parent = ControlGroups.find(kind == .cgroup1 ? .v1 : .v2, in: Surroundings())?.folders.first
    else { return }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
      guard let pid = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }), pid > 0, kill(pid, 0) != 0,
        errno == ESRCH
      else { continue }
      // Fails, as it should, if the group still has a process.
      rmdir("\(parent)/\(name)")
    }
  }

  private static func makeGroup(
    _ name: String, _ version: ControlGroups.Version, _ bytes: Int
  ) throws(MemoryCageError) -> String {
    guard let parent = ControlGroups.find(version, in: Surroundings())?.folders.first else {
      throw MemoryCageError(name, ENOENT)
    }
    let folder = "\(parent)/\(name)"
    // To move a process into the group, it must be allowed to move one out of the parent.
    guard access("\(parent)/cgroup.procs", W_OK) == 0 else { throw MemoryCageError(folder, errno) }
    var isMade = mkdir(folder, 0o755) == 0
    if !isMade, errno == EEXIST {
      rmdir(folder)
      isMade = mkdir(folder, 0o755) == 0
    }
    guard isMade else { throw MemoryCageError(folder, errno) }
    let isFirst = version == .v1
    do {
      try CgroupFile.write("\(bytes)", to: "\(folder)/\(isFirst ? "memory.limit_in_bytes" : "memory.max")")
    } catch {
      rmdir(folder)
      throw MemoryCageError(folder, error.number)
    }
    // With swap, running out of memory would only take longer. These files are missing where there is no swap.
    let (file, limit) = isFirst ? ("memory.memsw.limit_in_bytes", bytes) : ("memory.swap.max", 0)
    try? CgroupFile.write("\(limit)", to: "\(folder)/\(file)")
    return folder
  }

  /// The number of processes that the kernel killed because the group was full.
  var kills: Int {
    guard let folder else { return 0 }
    let file = kind == .cgroup1 ? "memory.oom_control" : "memory.events"
    return Surroundings().number("\(folder)/\(file)", after: "oom_kill") ?? 0
  }

  /// Removes the group, once its process has ended.
  public func remove() {
    if let folder { CgroupFile.remove(folder) }
  }
}

/// A memory cgroup cannot be created.
public struct MemoryCageError: Error, CustomStringConvertible {
  public let description: String

  /// - Parameter number: a value of `errno`.
  init(_ folder: String, _ number: CInt) {
    description = "cannot make the memory cgroup \(folder): \(systemText(number))"
  }
}
