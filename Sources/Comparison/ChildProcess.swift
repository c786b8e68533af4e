import Foundation
import Locking

/// A process of this same program.
///
/// *Concurrency*: ``kill(_:)`` from any thread at any time; ``wait()`` once.
final class ChildProcess: Sendable {
  /// How a process ended.
  enum End: Equatable {
    case exited(Int)
    case signalled(Int)
  }

  let id: pid_t
  /// False once the process is waited for, and its number may be another's. Guarded by its lock.
  private let isOurs = Locked(true)

  /// Starts the program again, with nothing on its standard streams.
  ///
  /// - Parameter descriptors: what it has open from descriptor 3 on.
  /// - Throws: the error number.
  init(_ arguments: [String], descriptors: [CInt]) throws(SpawnError) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    for stream in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
    }
    // From numbers that are in nobody's way.
    let moved = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 64) }
    defer { for descriptor in moved { close(descriptor) } }
    for (index, descriptor) in moved.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(3 + index))
    }
    var variables = ProcessInfo.processInfo.environment
    // A crash here is a result, and waits for no backtrace.
    variables["SWIFT_BACKTRACE"] = "enable=no"
    var process = pid_t()
    let status = Self.withCStrings([CommandLine.arguments[0]] + arguments) { words in
      Self.withCStrings(variables.map { "\($0.key)=\($0.value)" }) { environment in
        posix_spawn(&process, "/proc/self/exe", &actions, nil, words, environment)
      }
    }
    if status != 0 { throw SpawnError(number: status) }
    id = process
  }

  struct SpawnError: Error, CustomStringConvertible {
    let number: CInt

    var description: String { "cannot start a process: \(String(cString: strerror(number)))" }
  }

  /// Sends a signal, unless the process was waited for already.
  func kill(_ signal: CInt) {
    isOurs.withLock { isOurs in
      if isOurs { _ = Foundation.kill(id, signal) }
    }
  }

  /// Waits for its end.
  func wait() -> End {
    // First without taking it off the kernel's list, so that no signal is held up meanwhile.
    var info = siginfo_t()
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    return isOurs.withLock { isOurs in
      var status: CInt = 0
      while waitpid(id, &status, 0) < 0 && errno == EINTR {}
      isOurs = false
      // WIFEXITED and its kin are macros, which Swift does not see.
      return status & 0x7f == 0 ? .exited(Int(status >> 8 & 0xff)) : .signalled(Int(status & 0x7f))
    }
  }

  private static func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
