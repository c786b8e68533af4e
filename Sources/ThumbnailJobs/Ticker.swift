import Dispatch
import Synchronization

/// Calls a closure repeatedly, with a pause between the calls.
///
/// *Concurrency*: a private serial queue calls `body`; it gets a thread at once, even if the global pools are busy. The
/// pause begins when `body` returns. Calls therefore never pile up, neither while one is slow nor while the process is
/// stopped.
package final class Ticker: Sendable {
  private let queue: DispatchQueue
  private let pause: Duration
  private let body: @Sendable () -> Void
  private let isStopped = Atomic(false)

  package init(name: String, every pause: Duration, _ body: @escaping @Sendable () -> Void) {
    queue = DispatchQueue(label: name)
    self.pause = pause
    self.body = body
    schedule()
  }

  /// After this returns, `body` is not running and will not be called again. Do not call it from `body`.
  package func stop() {
    isStopped.store(true, ordering: .releasing)
    queue.sync {}
  }

  private func schedule() {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(pause / .milliseconds(1)))) { [weak self] in
      guard let self, !isStopped.load(ordering: .acquiring) else { return }
      body()
      schedule()
    }
  }
}
