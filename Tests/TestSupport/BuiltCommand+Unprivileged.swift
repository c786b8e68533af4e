import Foundation
import Synchronization

extension BuiltCommand {
  /// Counts the users that runs have switched to.
  private static let usersTaken = Atomic(0)

  /// Switches to a user without files and processes. Each run gets one of its own, because the system's limit of threads
  /// applies to all processes of a user.
  private static var newUser: [String] {
    let user = 100_000 + Int(getpid() & 0xffff) * 1000 + usersTaken.add(1, ordering: .relaxed).oldValue % 1000
    return ["--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
  }

  /// Why the command cannot be run without root's rights here; nil if it can.
  public static let unprivilegedObstacle: String? = {
    guard getuid() == 0 else { return nil }
    let folder = TemporaryFolder()
    let words = try? unprivileged(["--version"], in: folder).map { "'\($0)'" }.joined(separator: " ")
    guard let words, system("cd '\(folder.path)' && \(words) >.version 2>&1") == 0 else {
      return "another user cannot run the built command, or setpriv (package util-linux) is missing"
    }
    return nil
  }()

  /// Runs the command without root's rights: as another user if the tests run as root.
  ///
  /// - Parameter limit: arguments of the shell's `ulimit`, such as `-u 3`.
  public static func runUnprivileged(
    _ arguments: String..., limit: String? = nil, in folder: TemporaryFolder
  ) async throws -> Ending {
    let words = try unprivileged(arguments, limit: limit, in: folder)
    return try await run(executable: words[0], Array(words.dropFirst()), in: folder)
  }

  /// The words that start the command without root's rights in a working folder. Another user may have no access to the
  /// folders above the build and above the working folder, so the command is copied and called by a relative name.
  private static func unprivileged(
    _ arguments: [String], limit: String? = nil, in folder: TemporaryFolder
  ) throws -> [String] {
    var command = path
    var words: [String] = []
    if getuid() == 0 {
      try FileManager.default.copyItem(atPath: path, toPath: folder(".thumbjob-copy"))
      chmod(folder(".thumbjob-copy"), 0o755)
      chmod(folder.path, 0o777)
      command = "./.thumbjob-copy"
      words = ["/usr/bin/setpriv"] + newUser
    }
    if let limit { words += ["/bin/bash", "-c", "ulimit \(limit); exec \"$0\" \"$@\""] }
    return words + [command] + arguments
  }
}
