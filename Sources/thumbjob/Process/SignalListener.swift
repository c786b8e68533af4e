import Foundation

/// Waits for the signals that a job answers, on a thread that does nothing else.
///
/// The signals are held back (blocked) in every thread, so none interrupts anything, none kills, and one that comes
/// before the listener is there waits for it. The listener takes no lock and waits for nothing but signals: it answers
/// at once, however busy the rest is.
enum SignalListener {
  /// What a job answers.
  private static let answered = [SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP]

  /// Blocks the signals in this thread, and so in all that it starts; a broken pipe and a file
  /// grown over its limit become errors instead of signals.
  ///
  /// The first statement of the program. It sets the whole mask: a parent's own (a test runner's, which blocks nearly
  /// everything) must not stay in force. What it was told to ignore on behalf of a terminal it still ignores: HUP under
  /// nohup, INT in the background of a script.
  static func holdBack() {
    ignored = [SIGHUP, SIGINT].filter { number in
      var inherited = sigaction()
      sigaction(number, nil, &inherited)
      return isIgnore(inherited)
    }
    var set = signalSet()
    pthread_sigmask(SIG_SETMASK, &set, nil)
    // What these two kill by default is an error of a write, which is answered where the write is.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// The INT or TERM that has come and not been answered yet; nil where none has.
  static var pendingEnd: CInt? {
    var pending = sigset_t()
    sigpending(&pending)
    return [SIGINT, SIGTERM].first { sigismember(&pending, $0) == 1 && !ignored.contains($0) }
  }

  /// Lets the signals do what they do by default: for commands that are no job.
  static func letThrough() {
    var set = sigset_t()
    sigemptyset(&set)
    pthread_sigmask(SIG_SETMASK, &set, nil)
  }

  /// Calls `answer` for each signal, one after the other.
  static func listen(_ answer: @escaping @Sendable (_ signal: CInt) -> Void) {
    let thread = Thread {
      var set = signalSet()
      var number: CInt = 0
      while sigwait(&set, &number) == 0 { answer(number) }
    }
    thread.name = "signals"
    thread.start()
  }

  /// Written once, before there is a second thread.
  nonisolated(unsafe) private static var ignored: [CInt] = []

  private static func signalSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in answered where !ignored.contains(number) { sigaddset(&set, number) }
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
