import Files
import Foundation
import Locking

/// A process that runs this same program.
///
/// Not swift-subprocess: its monitor thread unblocks all signals (1.0.2, `epoll_pwait`), so USR1 could kill thumbjob.
///
/// *Concurrency*: ``kill(_:)`` from any thread at any time; ``wait()`` once.
final class ChildProcess: Sendable {
  /// How a process ended.
  enum Ending: Equatable {
    /// With an exit status.
    case exited(Int)
    /// By a signal.
    case signalled(Int)
  }

  let id: pid_t
  /// Whether the process is reaped: from then on, its id may belong to another process.
  private let isReaped = Locked(false)

  /// Starts the program. What it prints to standard error is discarded.
  ///
  /// - Parameters:
  ///   - arguments: as bytes, because paths are bytes.
  ///   - input: the descriptor of its standard input, above 2.
  ///   - output: the descriptor of its standard output, above 2.
  /// - Throws: the error of the system.
  init(_ arguments: [[UInt8]], input: CInt, output: CInt) throws(Errno) {
    var actions = posix_spawn_file_actions_t()
    try Self.check(posix_spawn_file_actions_init(&actions))
    defer { posix_spawn_file_actions_destroy(&actions) }
    try Self.check(posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO))
    try Self.check(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO))
    try Self.check(posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0))
    var variables = ProcessInfo.processInfo.environment
    // A crash is a result here. Without this, the process would first write a backtrace, which takes seconds.
    variables["SWIFT_BACKTRACE"] = "enable=no"
    var process = pid_t()
    let status = Self.withCStrings([Array(CommandLine.arguments[0].utf8)] + arguments) { words in
      Self.withCStrings(variables.map { Array("\($0.key)=\($0.value)".utf8) }) { environment in
        posix_spawn(&process, "/proc/self/exe", &actions, nil, words, environment)
      }
    }
    try Self.check(status)
    id = process
  }

  /// Sends a signal, unless the process is already reaped.
  func kill(_ signal: CInt) {
    isReaped.withLock { isReaped in
      if !isReaped { _ = Foundation.kill(id, signal) }
    }
  }

  /// Waits until the process has ended, and reaps it.
  ///
  /// - Returns: how it ended, and the processor seconds that it took, in its own code and in the kernel.
  func wait() -> (ending: Ending, processorSeconds: Double) {
    // The long wait does not reap and needs no lock, so that `kill` works meanwhile.
    var info = siginfo_t()
    _ = retryOnInterrupt { waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) }
    return isReaped.withLock { isReaped in
      var status: CInt = 0
      var usage = rusage()
      _ = retryOnInterrupt { wait4(id, &status, 0, &usage) }
      isReaped = true
      // Swift does not import the macros WIFEXITED, WEXITSTATUS and WTERMSIG.
      let ending: Ending = status & 0x7f == 0 ? .exited(Int(status >> 8 & 0xff)) : .signalled(Int(status & 0x7f))
      return (ending, Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime))
    }
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  private static func check(_ status: CInt) throws(Errno) {
    if status != 0 { throw Errno(rawValue: status) }
  }

  private static func withCStrings<Result>(
    _ words: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = words.map { word in
      (word + [0]).withUnsafeBytes { strdup($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
    }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
