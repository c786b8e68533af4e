import Locking

/// What the task of an operation waits for: that the operation gets a place in its queue, or leaves the queue.
///
/// *Concurrency*: from any thread. One task waits, once.
final class Turn: Sendable {
  private struct State {
    var given: Bool?
    var waiting: UnsafeContinuation<Bool, Never>?
  }

  private let state = Locked(State())

  /// Waits for the turn.
  ///
  /// - Returns: whether the work may begin.
  func comes() async -> Bool {
    await withUnsafeContinuation { continuation in
      let given = state.withLock { state in
        if state.given == nil { state.waiting = continuation }
        return state.given
      }
      if let given { continuation.resume(returning: given) }
    }
  }

  /// Gives the turn. Only the first time counts.
  func give(_ mayWork: Bool) {
    let waiting = state.withLock { state in
      if state.given == nil { state.given = mayWork }
      return state.waiting.take()
    }
    waiting?.resume(returning: mayWork)
  }
}
