import Foundation

/// A memory cgroup for one test, below the cgroup of the test. The kernel kills a process in it that
/// exceeds the limit.
public final class MemoryGroup: Sendable {
  private let folder: String

  /// Whether such a group can be created here, which takes root and a memory controller.
  public static let isUsable = MemoryGroup(mebibytes: 64) != nil

  /// Nil if the group cannot be created.
  public init?(mebibytes: Int) {
    guard let (parent, file) = Self.place else { return nil }
    folder = "\(parent)/thumbjob-test-\(UUID())"
    guard mkdir(folder, 0o755) == 0 else { return nil }
    do {
      try "\(mebibytes << 20)".write(toFile: "\(folder)/\(file)", atomically: false, encoding: .utf8)
    } catch {
      rmdir(folder)
      return nil
    }
  }

  deinit { rmdir(folder) }

  /// Runs the built command in the group.
  public func run(_ arguments: String..., in workplace: TemporaryFolder) async throws -> BuiltCommand.Ending {
    // The shell moves itself and becomes the command. Moving the test's process would move all its later children.
    let script = "echo $$ > \(folder)/cgroup.procs && exec \"$0\" \"$@\""
    return try await BuiltCommand.run(
      executable: "/bin/sh", ["-c", script, BuiltCommand.path] + arguments, in: workplace)
  }

  /// The names of the groups directly below the cgroup of the tests.
  public static var names: [String] {
    place.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.parent) } ?? []
  }

  /// The folder of this process's cgroup, and the name of the file that sets the limit of a cgroup.
  private static var place: (parent: String, file: String)? {
    let groups = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
    for line in groups.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      if parts[1].split(separator: ",").contains("memory") {
        return ("/sys/fs/cgroup/memory\(parts[2])", "memory.limit_in_bytes")
      }
      let controllers = try? String(contentsOfFile: "/sys/fs/cgroup\(parts[2])/cgroup.controllers", encoding: .utf8)
      if parts[0] == "0", controllers?.contains("memory") == true {
        return ("/sys/fs/cgroup\(parts[2])", "memory.max")
      }
    }
    return nil
  }
}
