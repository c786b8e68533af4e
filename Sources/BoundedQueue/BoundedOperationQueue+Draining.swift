import Foundation

/// Waiting for the end of all operations.
extension BoundedOperationQueue {
  /// Blocks the thread until no operation waits or runs, no producer is blocked, and observers have received every end.
  ///
  /// On a paused queue with waiting operations, this returns only after a resume or a cancellation.
  @available(*, noasync, message: "use drain(), which suspends instead of blocking a thread")
  public func drainBlocking() {
    let wake = DispatchSemaphore(value: 0)
    _ = whenIdle { wake.signal() }
    wake.wait()
  }

  /// Suspends the task until no operation waits or runs, no producer waits, and observers have received every end.
  ///
  /// On a paused queue with waiting operations, this returns only after a resume or a cancellation.
  ///
  /// - Throws: `CancellationError` when the task is cancelled before. The queue goes on.
  public nonisolated(nonsending) func drain() async throws {
    try Task.checkCancellation()
    let waiter = SuspendedTask()
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        waiter.suspend(continuation)
        waiter.ticket = whenIdle { waiter.resume(with: .success(())) }
        // If the task was cancelled before this point, its cancellation handler found no ticket.
        if Task.isCancelled { stopDraining(waiter) }
      }
    } onCancel: {
      stopDraining(waiter)
    }
  }

  /// Suspends the task until the queue is idle, but not for longer than this.
  ///
  /// - Returns: whether the queue is idle. If not, it goes on.
  /// - Throws: `CancellationError` when the task is cancelled before.
  public nonisolated(nonsending) func drain(for limit: Duration) async throws -> Bool {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await self.drain()
        return true
      }
      group.addTask {
        try await self.clock.sleep(for: limit)
        return false
      }
      defer { group.cancelAll() }
      guard let isIdle = try await group.next() else { preconditionFailure("the group has two tasks") }
      return isIdle
    }
  }

  /// Suspends the task until the queue is idle, even if the task is cancelled.
  nonisolated(nonsending) func drainDespiteCancellation() async {
    await withUnsafeContinuation { continuation in _ = whenIdle { continuation.resume() } }
  }

  private func stopDraining(_ waiter: SuspendedTask) {
    guard let ticket = waiter.ticket, account.withLock({ $0.forgetDrainer(ticket) }) else { return }
    waiter.resume(with: .failure(CancellationError()))
  }

  /// - Returns: the ticket of `wake`, with which it is forgotten.
  private func whenIdle(_ wake: @escaping @Sendable () -> Void) -> Int {
    precondition(
      !CurrentQueue.isCurrent(self),
      "an operation or observer of queue \(name) may not drain it: it would wait for itself")
    let (ticket, effects) = account.withLock { $0.whenIdle(wake) }
    carryOut(effects)
    return ticket
  }
}
