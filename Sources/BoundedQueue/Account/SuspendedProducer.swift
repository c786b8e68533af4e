import Locking

/// A task that waits for a place: resumed once, by whoever comes first.
final class SuspendedProducer: Sendable {
  private struct State {
    var continuation: UnsafeContinuation<Void, any Error>?
    var ticket: Int?
  }

  private let state = Locked(State())

  /// Its place among the blocked producers of the queue, once it has one: not the operation's, which may have been
  /// submitted by another producer before.
  var ticket: Int? {
    get { state.withLock { $0.ticket } }
    set { state.withLock { $0.ticket = newValue } }
  }

  func suspend(_ continuation: UnsafeContinuation<Void, any Error>) {
    state.withLock { $0.continuation = continuation }
  }

  func resume(with result: Result<Void, any Error>) {
    state.withLock { $0.continuation.take() }?.resume(with: result)
  }
}
