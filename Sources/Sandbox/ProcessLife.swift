import Files
import Foundation
import Locking

/// The life of a child process: kills it and reaps it once.
///
/// *Concurrency*: ``kill()`` from any thread at any time; the other members from one thread at a time. No other code of the
/// process may wait for its children.
final class ProcessLife: Sendable {
  /// How a process ended.
  enum Ending: Equatable {
    case exited(status: Int)
    case signalled(CInt)
  }

  let id: pid_t
  /// How the process ended, once it is reaped: from then on, its id may belong to another process.
  private let ending = Locked<Ending?>(nil)

  init(_ id: pid_t) { self.id = id }

  /// Sends SIGKILL, unless the process is already reaped.
  func kill() {
    ending.withLock { ending in
      if ending == nil { _ = Foundation.kill(id, SIGKILL) }
    }
  }

  /// Waits for the end for at most a time, and reaps the process.
  ///
  /// - Returns: nil if the process has not ended.
  func reap(within limit: Duration) -> Ending? {
    let deadline = ContinuousClock.now + limit
    var pause: UInt32 = 50
    while !hasEnded(WNOHANG) {
      if ContinuousClock.now >= deadline { return nil }
      usleep(pause)
      pause = min(pause * 2, 5000)
    }
    return reap()
  }

  /// Kills the process, waits until it has ended, and reaps it.
  @discardableResult
  func end() -> Ending {
    kill()
    // Does not reap and holds no lock.
    _ = hasEnded(0)
    return reap()
  }

  private func hasEnded(_ flags: CInt) -> Bool {
    if ending.withLock({ $0 != nil }) { return true }
    var info = siginfo_t()
    let result = retryOnInterrupt { waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT | flags) }
    // It fails if the process was reaped elsewhere. Then there is nothing to wait for.
    return result != 0 || info.si_signo == SIGCHLD
  }

  private func reap() -> Ending {
    ending.withLock { ending in
      if let ending { return ending }
      var status: CInt = 0
      let result = retryOnInterrupt { waitpid(id, &status, 0) }
      // Swift does not import the macros WIFEXITED, WEXITSTATUS and WTERMSIG.
      let found: Ending =
        result != id
        ? .signalled(SIGKILL)
        : status & 0x7f == 0 ? .exited(status: Int(status >> 8 & 0xff)) : .signalled(status & 0x7f)
      ending = found
      return found
    }
  }
}
