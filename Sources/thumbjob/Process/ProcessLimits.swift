import Foundation

/// What the system gives to a process at all, looked at before it is needed: Dispatch and Foundation have no way to say
/// that there was no thread or no file to be had. They crash, or wait for ever.
enum ProcessLimits {
  /// Files: the three streams, what the runtime holds, a folder for each level of a small tree, sources and thumbnails.
  private static let leastFiles = 48
  /// Threads beside those of operations: signals, answers, progress, the watchdog, the status endpoint, and what the
  /// runtime starts.
  private static let otherThreads = 12

  /// Takes all the open files that may be had: a walk holds one open per level of folders, and many systems start with
  /// 256 or 1024.
  static func raiseOpenFiles() {
    guard var limit = openFiles() else { return }
    // Not unlimited: some systems refuse that for this limit though they name it.
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
    setrlimit(resource, &limit)
  }

  /// What is too little to run with so many operations at once, and the way out; nil when all is well.
  static func problem(max operations: Int) -> String? {
    if let limit = openFiles(), limit.rlim_cur < leastFiles {
      return "may open only \(limit.rlim_cur) files at once and needs \(leastFiles); raise the limit with ulimit -n"
    }
    // All of them: Dispatch tries again for ever for one that it does not get.
    let wanted = operations + otherThreads
    let started = threads(wanted)
    if started < wanted {
      return
        "gets only \(started) of \(wanted) threads from the system; raise the limit with ulimit -u, or that of the "
        + "container, or lower --max"
    }
    return nil
  }

  /// Starts so many threads at once, and ends them.
  ///
  /// - Returns: how many could be started.
  private static func threads(_ count: Int) -> Int {
    var started: [pthread_t] = []
    gate.lock()
    while started.count < count, let thread = startThread() { started.append(thread) }
    gate.unlock()
    for thread in started { pthread_join(thread, nil) }
    return started.count
  }

  private static func startThread() -> pthread_t? {
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    if pthread_create(&thread, nil, waitAtGate, nil) != 0 { return nil }
    return thread
  }

  #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let resource = RLIMIT_NOFILE
  #endif

  private static func openFiles() -> rlimit? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? limit : nil
  }
}

/// Held shut while threads are being started, so that they are all there at once.
private let gate = NSLock()

private func waitAtGate(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  gate.lock()
  gate.unlock()
  return nil
}
