import Locking

/// The events that wait for one client.
///
/// *Concurrency*: the lock guards what waits and who waits for it. Any thread may add; one task takes.
final class EventListener: Sendable {
  /// What has gathered since the client was last served.
  struct Batch: Sendable {
    var changes: [StateChange] = []
    /// Events lost before these, for want of room.
    var lost = 0
    /// Whether a second has passed.
    var isSecond = false
    /// Nothing will follow.
    var isLast = false

    fileprivate var isEmpty: Bool { changes.isEmpty && lost == 0 && !isSecond && !isLast }
  }

  private struct State {
    var batch = Batch()
    var receiver: CheckedContinuation<Batch, Never>?

    /// Hands over what there is, if somebody waits for it. To be resumed outside the lock.
    mutating func deliver() -> (CheckedContinuation<Batch, Never>, Batch)? {
      guard !batch.isEmpty, let receiver else { return nil }
      self.receiver = nil
      return (receiver, removeBatch())
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

  /// - Parameter capacity: so many changes wait at the most; then all of them are dropped, being old news by now.
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

  /// The next batch is the last.
  func finish() { add { $0.isLast = true } }

  private func add(_ body: (inout Batch) -> Void) {
    let due = state.withLock { state in
      if !state.batch.isLast { body(&state.batch) }
      return state.deliver()
    }
    if let (receiver, batch) = due { receiver.resume(returning: batch) }
  }

  /// Waits until there is something, without taking a thread. A cancelled task gets the last batch.
  func next() async -> Batch {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let due = state.withLock { state in
          state.receiver = continuation
          return state.deliver()
        }
        if let (receiver, batch) = due { receiver.resume(returning: batch) }
      }
    } onCancel: {
      finish()
    }
  }
}
