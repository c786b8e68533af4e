import Locking

/// The pending events of one client.
///
/// *Concurrency*: the lock guards the pending batch and the task that waits for it. Any thread may add; one task receives.
final class EventListener: Sendable {
  /// The events since the client was last served.
  struct Batch: Sendable {
    var changes: [StateChange] = []
    /// Events lost before these, because there was no room.
    var lost = 0
    /// Whether a second has passed since the last batch.
    var isSecond = false
    /// No batch follows.
    var isLast = false

    fileprivate var isEmpty: Bool { changes.isEmpty && lost == 0 && !isSecond && !isLast }
  }

  private struct State {
    var batch = Batch()
    var receiver: CheckedContinuation<Void, Never>?

    /// The task that waits for a batch, if there is one. Resume it outside the lock.
    mutating func removeReceiver() -> CheckedContinuation<Void, Never>? {
      if batch.isEmpty { return nil }
      defer { receiver = nil }
      return receiver
    }

    mutating func removeBatch() -> Batch {
      defer {
        let isLast = batch.isLast
        batch = Batch()
        batch.isLast = isLast
      }
      return batch
    }
  }

  private let state = Locked(State())
  private let capacity: Int

  /// - Parameter capacity: the most pending changes; beyond it all of them are dropped, because they are outdated.
  init(capacity: Int) { self.capacity = capacity }

  func receive(_ change: StateChange) {
    add { [capacity] batch in
      if batch.changes.count >= capacity {
        batch.lost += batch.changes.count
        batch.changes = []
      }
      batch.changes.append(change)
    }
  }

  func tick() { add { $0.isSecond = true } }

  /// Makes the next batch the last.
  func finish() { add { $0.isLast = true } }

  private func add(_ body: (inout Batch) -> Void) {
    let receiver = state.withLock { state in
      if !state.batch.isLast { body(&state.batch) }
      return state.removeReceiver()
    }
    receiver?.resume()
  }

  /// Suspends until there is a batch. A cancelled task gets the last batch.
  func next() async -> Batch {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let receiver = state.withLock { state in
          state.receiver = continuation
          return state.removeReceiver()
        }
        receiver?.resume()
      }
    } onCancel: {
      finish()
    }
    return state.withLock { $0.removeBatch() }
  }
}
