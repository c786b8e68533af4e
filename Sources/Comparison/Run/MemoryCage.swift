import Files
import Foundation
import MemoryPressure

/// A limit on the memory of one process: a memory cgroup of its own below that of this process, or, where none can be
/// made, a limit on its address space.
///
/// *Concurrency*: for one thread.
///
/// *Source*: the kernel's cgroup-v1/memory and cgroup-v2 documents; getrlimit(2).
public final class MemoryCage {
  public enum Kind: String, Codable, Sendable {
    case cgroup1 = "cgroup_v1"
    case cgroup2 = "cgroup_v2"
    case addressSpace = "address_space"

    public var displayName: String {
      switch self {
      case .cgroup1: "by a memory cgroup (v1)"
      case .cgroup2: "by a memory cgroup (v2)"
      case .addressSpace:
        "on address space (no cgroup can be made here), counted from what it has mapped when it starts"
      }
    }
  }

  public struct Problem: Error, CustomStringConvertible {
    public let description: String

    init(_ folder: String, _ number: CInt) {
      description = "cannot make the memory cgroup \(folder): \(String(cString: strerror(number)))"
    }
  }

  public let kind: Kind
  /// The group's folder; nil without a group.
  public let folder: String?

  /// What this program holds by itself: under a smaller limit a process of it would not even begin, after much thrashing.
  public static var leastBytes: Int { ProcessStatus()?.memory?.anonymous ?? 0 }

  /// The kind that can be had here, found out by making one and removing it.
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
  ///   - name: of the group. One that a dead process has left under this name is removed.
  /// - Throws: where it cannot be of this kind: it never becomes another.
  public init(_ kind: Kind, bytes: Int, name: String) throws(Problem) {
    self.kind = kind
    switch kind {
    case .cgroup1: folder = try Self.makeGroup(name, .v1, bytes)
    case .cgroup2: folder = try Self.makeGroup(name, .v2, bytes)
    case .addressSpace: folder = nil
    }
  }

  /// Removes the groups of processes that were killed with all who would have done it.
  ///
  /// - Parameter prefix: of their names, before the number of the process that made them.
  public static func sweep(_ kind: Kind, _ prefix: String) {
    guard kind != .addressSpace,
      let parent = ControlGroups.find(kind == .cgroup1 ? .v1 : .v2, in: Surroundings())?.folders.first
    else { return }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
      guard let pid = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }), pid > 0, kill(pid, 0) != 0,
        errno == ESRCH
      else { continue }
      // Of a group that still has a process this takes nothing.
      rmdir("\(parent)/\(name)")
    }
  }

  private static func makeGroup(
    _ name: String, _ version: ControlGroups.Version, _ bytes: Int
  ) throws(Problem) -> String {
    guard let parent = ControlGroups.find(version, in: Surroundings())?.folders.first else {
      throw Problem(name, ENOENT)
    }
    let folder = "\(parent)/\(name)"
    // Whoever may not move a process out of the parent cannot put one into the group.
    guard access("\(parent)/cgroup.procs", W_OK) == 0 else { throw Problem(folder, errno) }
    var isMade = mkdir(folder, 0o755) == 0
    if !isMade, errno == EEXIST {
      rmdir(folder)
      isMade = mkdir(folder, 0o755) == 0
    }
    guard isMade else { throw Problem(folder, errno) }
    let isFirst = version == .v1
    guard GroupFile.write("\(bytes)", to: "\(folder)/\(isFirst ? "memory.limit_in_bytes" : "memory.max")") else {
      let number = errno
      rmdir(folder)
      throw Problem(folder, number)
    }
    // Swap would only make the end slower. Where there is none, neither file need be.
    _ =
      isFirst
      ? GroupFile.write("\(bytes)", to: "\(folder)/memory.memsw.limit_in_bytes")
      : GroupFile.write("0", to: "\(folder)/memory.swap.max")
    return folder
  }

  /// How many processes of the group were killed because it was full.
  var kills: Int {
    guard let folder else { return 0 }
    return GroupFile.number(
      after: "oom_kill", in: "\(folder)/\(kind == .cgroup1 ? "memory.oom_control" : "memory.events")")
  }

  /// Removes the group, once the process in it has ended.
  public func remove() {
    if let folder { GroupFile.remove(folder) }
  }
}

/// The other side: what the process that is to be limited does before it begins.
public enum Confinement {
  /// Moves this process into a group. What it holds already stays on its former group's account: the program itself.
  ///
  /// - Returns: false where it cannot.
  public static func join(group folder: String) -> Bool { GroupFile.write("0", to: "\(folder)/cgroup.procs") }

  /// Takes this process out of its group again and removes that: for when nobody else is left to.
  public static func abandon(group folder: String) {
    guard let slash = folder.lastIndex(of: "/") else { return }
    if join(group: String(folder[..<slash])) { GroupFile.remove(folder) }
  }

  /// Limits this process's address space to what it has mapped by now, so many bytes more, and the stacks of so many
  /// threads: those are mapped whole and hardly ever used.
  ///
  /// - Returns: false where it cannot.
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

/// The files by which a group is steered.
private enum GroupFile {
  static func write(_ text: String, to path: String) -> Bool {
    let file = open(path, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    let isWritten = Foundation.write(file, text, text.utf8.count) == text.utf8.count
    let number = errno
    close(file)
    errno = number
    return isWritten
  }

  static func number(after name: Substring, in path: String) -> Int {
    for line in Surroundings().lines(path) {
      let words = line.split(separator: " ")
      if words.count == 2, words[0] == name { return Int(words[1]) ?? 0 }
    }
    return 0
  }

  /// For a moment after its last process has ended a group is still busy.
  static func remove(_ folder: String) {
    for _ in 0..<200 {
      if rmdir(folder) == 0 || errno == ENOENT { return }
      usleep(10_000)
    }
  }
}
