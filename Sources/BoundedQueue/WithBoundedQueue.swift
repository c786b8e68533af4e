/// Runs `body` with a queue of its own, which has nothing left to do when this returns.
///
/// If `body` returns, the queue finishes what was submitted. If it throws, or if the task is cancelled, all operations are
/// cancelled with the reason ``CancelReason/user``, and this waits until they have ended.
///
/// ```swift
/// func sizes(of urls: [URL]) async throws -> [Int] {
///   try await withBoundedQueue(maxConcurrentOperations: 4) { queue in
///     let operations = urls.map { url in ResultOperation(title: "\(url)") { try await size(of: url) } }
///     for operation in operations { try await queue.submit(operation) }
///     var sizes: [Int] = []
///     for operation in operations { sizes.append(try await operation.result) }
///     return sizes
///   }
/// }
/// ```
///
/// - Parameters:
///   - name: the queue's name, for messages.
///   - maxConcurrentOperations: the most operations that run at once, at least 1.
///   - backlog: the most accepted operations that wait, at least 0; default: 4 × `maxConcurrentOperations`.
///   - budget: the bytes that running operations may reserve; nil means no limit.
///   - perKey: the most operations with the same key that run at once; nil means no limit.
///   - clock: measures the time limits of operations and of a drain, and the delays before work is tried again.
///   - isolation: the actor on which `body` runs: that of the caller.
///   - body: submits operations. The queue must not be used after it.
/// - Returns: what `body` returns.
/// - Throws: the errors of `body`, and `CancellationError` if the task is cancelled before the last operation has ended.
public func withBoundedQueue<Result>(
  name: String = "bounded queue", maxConcurrentOperations: Int, backlog: Int? = nil, budget: MemoryBudget? = nil,
  perKey: Int? = nil, clock: any Clock<Duration> = ContinuousClock(), isolation: isolated (any Actor)? = #isolation,
  _ body: (BoundedOperationQueue) async throws -> Result
) async throws -> Result {
  let queue = BoundedOperationQueue(
    name: name, maxConcurrentOperations: maxConcurrentOperations, backlog: backlog, budget: budget, perKey: perKey,
    clock: clock)
  do {
    let result = try await withTaskCancellationHandler {
      let result = try await body(queue)
      queue.close()
      try await queue.drain()
      return result
    } onCancel: {
      queue.stop(reason: .user)
    }
    // What was cancelled last may have ended before the task could notice.
    try Task.checkCancellation()
    return result
  } catch {
    queue.stop(reason: .user)
    await queue.drainDespiteCancellation()
    throw error
  }
}
