import Foundation

/// A memory cgroup of a test's own, below the one the test runs in: what is run in it is killed when it holds more.
public final class MemoryGroup: Sendable {
  private let folder: String

  /// Whether such a group can be made here: as root, where the memory controller is to be had.
  public static let isUsable = MemoryGroup(mebibytes: 64) != nil

  /// Nil where it cannot be made.
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
    // Only the command itself: children that a test's process starts later stay where they are.
    let script = "echo $$ > \(folder)/cgroup.procs && exec \"$0\" \"$@\""
    return try await BuiltCommand.run(
      executable: "/bin/sh", ["-c", script, BuiltCommand.path] + arguments, in: workplace)
  }

  /// What the groups directly below the one that tests run in are called.
  public static var names: [String] {
    place.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.parent) } ?? []
  }

  /// The folder of this process's group, and the file of a group that sets its limit.
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
