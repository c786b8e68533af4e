/// The continuation of a task that waits for a place: resumed once, by whoever comes first.
final class SuspendedProducer: Sendable {
  private typealias Continuation = UnsafeContinuation<Void, any Error>
  /// Guards the continuation, which is taken out when it is resumed.
  private let continuation = Locked<Continuation?>(nil)

  func suspend(_ continuation: UnsafeContinuation<Void, any Error>) {
    self.continuation.withLock { $0 = continuation }
  }

  func resume(with result: Result<Void, any Error>) {
    continuation.withLock { $0.take() }?.resume(with: result)
  }
}
