import Foundation

/// Threads that do nothing, which show how many threads the system allows. They are tried out, because several limits
/// apply and the system does not report how much of them is used.
///
/// They end by themselves once all have been started. No other thread may be started before ``end()`` has returned,
/// because there may be no room for both.
///
/// *Concurrency*: used on one thread.
final class ThreadTrial {
  let wanted: Int
  /// The number of threads that could be started, at most `wanted`.
  let started: Int
  private var threads: [pthread_t] = []

  /// Starts up to `wanted` threads at the same time.
  init(_ wanted: Int) {
    self.wanted = wanted
    gate.lock()
    while threads.count < wanted, let thread = Self.startThread() { threads.append(thread) }
    gate.unlock()
    started = threads.count
  }

  deinit { end() }

  /// Waits until the threads have ended. On a busy machine this takes milliseconds. So the caller should first do what
  /// needs no thread.
  func end() {
    for thread in threads { pthread_join(thread, nil) }
    threads = []
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
}

/// Locked while threads are started, so that all of them run at the same time.
private let gate = NSLock()

private func waitAtGate(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  gate.lock()
  gate.unlock()
  return nil
}
