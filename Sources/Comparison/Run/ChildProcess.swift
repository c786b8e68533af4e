import Files
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
  /// - Parameter arguments: words of bytes, since paths are.
  /// - Parameter descriptors: what it has open from descriptor 3 on.
  /// - Throws: the error number.
  init(_ arguments: [[UInt8]], descriptors: [CInt]) throws(SpawnError) {
    var actions = posix_spawn_file_actions_t()
    try SpawnError.check(posix_spawn_file_actions_init(&actions))
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (stream, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_WRONLY), (STDERR_FILENO, O_WRONLY)] {
      try SpawnError.check(posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", mode, 0))
    }
    // From behind the numbers that they are to have: none is taken before it has moved.
    var moved: [CInt] = []
    defer { for descriptor in moved { close(descriptor) } }
    for (index, descriptor) in descriptors.enumerated() {
      let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, CInt(3 + descriptors.count))
      if copy < 0 { throw SpawnError(number: errno) }
      moved.append(copy)
      try SpawnError.check(posix_spawn_file_actions_adddup2(&actions, copy, CInt(3 + index)))
    }
    var variables = ProcessInfo.processInfo.environment
    // A crash here is a result, and waits for no backtrace.
    variables["SWIFT_BACKTRACE"] = "enable=no"
    var process = pid_t()
    let status = Self.withCStrings([Array(CommandLine.arguments[0].utf8)] + arguments) { words in
      Self.withCStrings(variables.map { Array("\($0.key)=\($0.value)".utf8) }) { environment in
        posix_spawn(&process, "/proc/self/exe", &actions, nil, words, environment)
      }
    }
    try SpawnError.check(status)
    id = process
  }

  struct SpawnError: Error, CustomStringConvertible {
    let number: CInt

    static func check(_ status: CInt) throws(SpawnError) {
      if status != 0 { throw SpawnError(number: status) }
    }

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
    _ = retryOnInterrupt { waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) }
    return isOurs.withLock { isOurs in
      var status: CInt = 0
      _ = retryOnInterrupt { waitpid(id, &status, 0) }
      isOurs = false
      // WIFEXITED and its kin are macros, which Swift does not see.
      return status & 0x7f == 0 ? .exited(Int(status >> 8 & 0xff)) : .signalled(Int(status & 0x7f))
    }
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
