import Locking

/// A task that waits in the async `submit` or `drain`. It is resumed exactly once: by the queue, or by its cancellation.
final class SuspendedTask: Sendable {
  private struct State {
    var continuation: UnsafeContinuation<Void, any Error>?
    var ticket: Int?
  }

  private let state = Locked(State())

  /// Its ticket in the account of the queue; nil before it has one. A withdrawal needs the ticket, because another producer
  /// may have submitted the same operation before.
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
