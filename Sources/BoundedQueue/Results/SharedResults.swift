import Locking

/// Results that callers share: while the operation of a key waits or runs, others who ask for that key wait for the same one.
///
/// ```swift
/// let previews = SharedResults<String, [UInt8]>(queue)
/// // A hundred requests for one photo make one preview.
/// let preview = try await previews.value(for: path) {
///   ResultOperation(title: "preview of \(path)") { try render(path) }
/// }
/// ```
///
/// Results are not kept: who asks after the end gets a new operation. If the tasks of all who wait for an operation are
/// cancelled, so is the operation.
///
/// *Concurrency*: a lock guards the pending operations and those who wait for each.
public final class SharedResults<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A caller that waits. The result passes through a lock, because the thread sanitizer does not see that a continuation is
  /// resumed before its task goes on.
  private final class Waiter: Sendable {
    let task = SuspendedTask()
    private let result = Locked<Result<Value, any Error>?>(nil)

    func resume(with result: Result<Value, any Error>) {
      self.result.withLock { $0 = result }
      task.resume(with: result.map { _ in })
    }

    func get() throws -> Value {
      guard let result = result.withLock({ $0 }) else { preconditionFailure("a caller goes on without a result") }
      return try result.get()
    }
  }

  private struct Pending {
    let operation: ResultOperation<Value>
    /// Submits the operation and waits for its end.
    let task: Task<Void, Never>
    var waiters: [Int: Waiter]
  }

  private struct State {
    var pending: [Key: Pending] = [:]
    var waiters = 0
  }

  private let queue: BoundedOperationQueue
  private let state = Locked(State())

  /// - Parameter queue: runs the operations.
  public init(_ queue: BoundedOperationQueue) { self.queue = queue }

  /// How many operations wait or run.
  public var pendingCount: Int { state.withLock { $0.pending.count } }

  /// How many callers wait.
  var waiterCount: Int { state.withLock { $0.pending.values.reduce(0) { $0 + $1.waiters.count } } }

  /// The result for a key.
  ///
  /// - Parameters:
  ///   - key: what the result is for.
  ///   - make: makes the operation. It is called if none for this key waits or runs; what it made is released unused if another
  ///     caller was faster.
  /// - Throws: the error of the operation; ``SubmitError`` if the queue did not accept it; or `CancellationError` when the task is
  ///   cancelled.
  public nonisolated(nonsending) func value(
    for key: Key, _ make: () -> ResultOperation<Value>
  ) async throws -> Value {
    try Task.checkCancellation()
    let number = state.withLock { state in
      state.waiters += 1
      return state.waiters
    }
    let waiter = Waiter()
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        waiter.task.suspend(continuation)
        wait(for: key, number, waiter, make)
        // If the task was cancelled before this point, its cancellation handler found no waiter.
        if Task.isCancelled { leave(number, key) }
      }
    } onCancel: {
      leave(number, key)
    }
    return try waiter.get()
  }

  private func wait(
    for key: Key, _ number: Int, _ waiter: Waiter,
    _ make: () -> ResultOperation<Value>
  ) {
    var made: ResultOperation<Value>?
    while true {
      let waits = state.withLock { state in
        if state.pending[key] != nil {
          state.pending[key]?.waiters[number] = waiter
          return true
        }
        guard let made else { return false }
        state.pending[key] = Pending(
          operation: made, task: Task { await self.run(made, for: key) }, waiters: [number: waiter])
        return true
      }
      if waits { return }
      made = make()
    }
  }

  private func run(_ operation: ResultOperation<Value>, for key: Key) async {
    let result: Result<Value, any Error>
    do {
      try await queue.submit(operation)
      result = .success(try await operation.result)
    } catch {
      result = .failure(error)
    }
    let waiters: [Int: Waiter] = state.withLock { state in
      // All may have left, and others may have come for a new operation.
      guard state.pending[key]?.operation === operation else { return [:] }
      return state.pending.removeValue(forKey: key)?.waiters ?? [:]
    }
    for waiter in waiters.values { waiter.resume(with: result) }
  }

  /// Waits no more. The last who leaves cancels the operation.
  private func leave(_ number: Int, _ key: Key) {
    let (waiter, left) = state.withLock { state in
      let waiter = state.pending[key]?.waiters.removeValue(forKey: number)
      let isLast = waiter != nil && state.pending[key]?.waiters.isEmpty == true
      return (waiter, isLast ? state.pending.removeValue(forKey: key) : nil)
    }
    waiter?.resume(with: .failure(CancellationError()))
    left?.task.cancel()
    left?.operation.cancel()
  }
}
