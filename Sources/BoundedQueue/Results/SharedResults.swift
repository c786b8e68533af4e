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
  private struct Pending {
    let operation: ResultOperation<Value>
    /// Submits the operation and waits for its end.
    let task: Task<Void, Never>
    var waiters: [Int: UnsafeContinuation<Value, any Error>] = [:]
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
  public func value(for key: Key, _ make: () -> ResultOperation<Value>) async throws -> Value {
    try Task.checkCancellation()
    let number = state.withLock { state in
      state.waiters += 1
      return state.waiters
    }
    return try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        wait(for: key, number, continuation, make)
        // If the task was cancelled before this point, its cancellation handler found nobody who waits.
        if Task.isCancelled { leave(number, key) }
      }
    } onCancel: {
      leave(number, key)
    }
  }

  private func wait(
    for key: Key, _ number: Int, _ continuation: UnsafeContinuation<Value, any Error>,
    _ make: () -> ResultOperation<Value>
  ) {
    var made: ResultOperation<Value>?
    while true {
      let waits = state.withLock { state in
        if state.pending[key] != nil {
          state.pending[key]?.waiters[number] = continuation
          return true
        }
        guard let made else { return false }
        state.pending[key] = Pending(
          operation: made, task: Task { await self.run(made, for: key) }, waiters: [number: continuation])
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
    let waiters: [Int: UnsafeContinuation<Value, any Error>] = state.withLock { state in
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
    waiter?.resume(throwing: CancellationError())
    left?.task.cancel()
    left?.operation.cancel()
  }
}
