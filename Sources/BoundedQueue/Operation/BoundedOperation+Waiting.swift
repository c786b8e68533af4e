/// Waiting for the end of an operation.
extension BoundedOperation {
  /// Suspends the task until the operation has ended. One that was never submitted never ends.
  ///
  /// The queue's counters and observers learn of the end a moment later; ``BoundedOperationQueue/drain()`` waits for that too.
  ///
  /// - Returns: how it has ended.
  /// - Throws: `CancellationError` when the task is cancelled before. The operation goes on.
  @discardableResult
  public nonisolated(nonsending) func waitForEnd() async throws -> Outcome {
    try Task.checkCancellation()
    let waiter = SuspendedTask()
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        waiter.suspend(continuation)
        waiter.ticket = state.withLock { $0.add(waiter) }
        if waiter.ticket == nil { waiter.resume(with: .success(())) }
        // If the task was cancelled before this point, its cancellation handler found no ticket.
        if Task.isCancelled { forget(waiter) }
      }
    } onCancel: {
      forget(waiter)
    }
    guard let outcome else { preconditionFailure("operation #\(id) has told of an end that did not come") }
    return outcome
  }

  private func forget(_ waiter: SuspendedTask) {
    guard let ticket = waiter.ticket, state.withLock({ $0.forgetWaiter(ticket) }) else { return }
    waiter.resume(with: .failure(CancellationError()))
  }
}
