import Dispatch
import Synchronization

/// Does something again and again, with a pause between, until stopped.
///
/// *Concurrency*: `body` is called on a serial queue of the ticker's own, which the system gives a thread at once however
/// busy its pools are. The pause begins when `body` returns: ticks never pile up, not while one is slow and not while
/// the process is stopped.
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

  /// Ends the ticking; when this returns `body` is not running and will not be called again. Not for use in `body`.
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
