import Dispatch

/// Calls a closure repeatedly, with a pause between the calls.
///
/// *Concurrency*: a thread of its own calls `body`. The pause begins when `body` returns. Calls therefore never pile up,
/// neither while one is slow nor while the process is stopped. If the system gives no thread, `body` is never called.
package final class Ticker: Sendable {
  /// Signalled once to stop the thread.
  private let stopping = TimedSignal()
  /// Signalled once the thread has stopped.
  private let stopped = DispatchSemaphore(value: 0)

  /// - Parameter startsAtOnce: whether the first call comes before the first pause.
  package init(
    name: String, every pause: Duration, startsAtOnce: Bool = false, _ body: @escaping @Sendable () -> Void
  ) {
    let isStarted = startThread(name: name) { [stopping, stopped] in
      if startsAtOnce { body() }
      while !stopping.wait(upTo: pause) { body() }
      stopped.signal()
    }
    if !isStarted { stopped.signal() }
  }

  deinit { stopping.signal() }

  /// After this returns, `body` is not running and will not be called again. Do not call it from `body`.
  package func stop() {
    stopping.signal()
    stopped.wait()
    // For a second call.
    stopped.signal()
  }
}
