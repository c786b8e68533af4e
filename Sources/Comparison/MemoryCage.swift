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
      case .cgroup1: "memory cgroup (v1)"
      case .cgroup2: "memory cgroup (v2)"
      case .addressSpace: "address-space limit (no cgroup can be made here)"
      }
    }
  }

  public let kind: Kind
  /// The group's folder; nil without a group.
  public let folder: String?

  /// - Parameters:
  ///   - bytes: the limit.
  ///   - name: of the group, which must not exist yet.
  public init(bytes: Int, name: String) {
    let surroundings = Surroundings()
    for (kind, version) in [(Kind.cgroup1, ControlGroups.Version.v1), (.cgroup2, .v2)] {
      guard let parent = ControlGroups.find(version, in: surroundings)?.folders.first else { continue }
      if let folder = Self.makeGroup("\(parent)/\(name)", kind, bytes) {
        (self.kind, self.folder) = (kind, folder)
        return
      }
    }
    (kind, folder) = (.addressSpace, nil)
  }

  private static func makeGroup(_ folder: String, _ kind: Kind, _ bytes: Int) -> String? {
    let parent = folder.lastIndex(of: "/").map { folder[..<$0] } ?? ""
    // Whoever may not move a process out of the parent cannot put one into the group.
    guard access("\(parent)/cgroup.procs", W_OK) == 0, mkdir(folder, 0o755) == 0 else { return nil }
    let isLimited =
      kind == .cgroup1
      ? GroupFile.write("\(bytes)", to: "\(folder)/memory.limit_in_bytes")
      : GroupFile.write("\(bytes)", to: "\(folder)/memory.max")
    guard isLimited else {
      rmdir(folder)
      return nil
    }
    // Swap would only make the end slower. Where there is none, neither file need be.
    _ =
      kind == .cgroup1
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
      guard let status = ProcessStatus.own else { return false }
      var stack = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &stack)
      let stacks = threads * Int(min(stack.rlim_cur, 8 << 20))
      let limit = rlim_t(status.mapped + bytes + stacks)
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
    defer { close(file) }
    return Foundation.write(file, text, text.utf8.count) == text.utf8.count
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
