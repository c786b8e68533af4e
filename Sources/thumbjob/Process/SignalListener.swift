import AccessRecording
import Foundation
import Locking

/// Receives the signals that a job handles, on a thread that does nothing else.
///
/// The signals are blocked in every thread, so they neither interrupt system calls nor kill the process, and one that
/// arrives early waits for the listener. The listener takes no lock and waits only for signals, so it responds at once even
/// if the rest of the process is busy.
enum SignalListener {
  /// The signals that a job handles.
  private static let handled = [SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP]

  /// Blocks the signals in this thread and in all that it starts. A broken pipe, and a file over its size limit, become
  /// errors instead of signals.
  ///
  /// Call it first in `main`. It replaces the whole signal mask, because a parent may leave nearly everything blocked
  /// (a test runner does). Signals that the parent ignores for a terminal stay ignored: HUP under nohup, INT in the
  /// background of a script.
  static func block() {
    let inherited = [SIGHUP, SIGINT].filter { number in
      var action = sigaction()
      sigaction(number, nil, &action)
      return isIgnore(action)
    }
    ignored.modify { $0 = inherited }
    var set = signalSet()
    pthread_sigmask(SIG_SETMASK, &set, nil)
    // These two would kill the process. Ignored, the write returns an error.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// An INT or TERM that has arrived and is not yet handled; nil if there is none.
  static var pendingEnd: CInt? {
    var pending = sigset_t()
    sigpending(&pending)
    return [SIGINT, SIGTERM].first { sigismember(&pending, $0) == 1 && !isIgnored($0) }
  }

  /// Gives the signals their default effect again, for commands other than a job.
  static func unblock() {
    var set = sigset_t()
    sigemptyset(&set)
    pthread_sigmask(SIG_SETMASK, &set, nil)
  }

  /// Calls `handler` for each signal, one after the other.
  ///
  /// - Returns: false if the system gives no thread.
  static func listen(_ handler: @escaping @Sendable (_ signal: CInt) -> Void) -> Bool {
    startThread(name: "signals") {
      var set = signalSet()
      var number: CInt = 0
      while sigwait(&set, &number) == 0 { handler(number) }
    }
  }

  /// Written once, before the process has a second thread.
  private static let ignored = Shared<[CInt]>([])

  private static func isIgnored(_ number: CInt) -> Bool { ignored.read { $0.contains(number) } }

  private static func signalSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in handled where !isIgnored(number) { sigaddset(&set, number) }
    return set
  }

  private static func isIgnore(_ action: sigaction) -> Bool {
    #if canImport(Glibc)
    let handler = action.__sigaction_handler.sa_handler
    #else
    let handler = action.__sigaction_u.__sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
