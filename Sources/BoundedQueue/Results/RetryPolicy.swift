/// When work that did not succeed is tried again, and after which delay.
///
/// Delays grow by a factor, up to a longest one. A random part is taken from each, so that many that failed together do not come
/// back together.
///
/// ```swift
/// let policy = RetryPolicy(attempts: 5, firstDelay: .milliseconds(200)) { error in error is ServerBusy }
/// let page = try await queue.result(retrying: policy) { attempt in
///   ResultOperation(title: "page, attempt \(attempt)", key: host) { try await load(url) }
/// }
/// ```
public struct RetryPolicy: Sendable {
  /// How often the work is done at most; at least 1.
  public let attempts: Int
  /// The longest delay after the first attempt.
  public let firstDelay: Duration
  /// By how much the longest delay grows with each attempt; at least 1.
  public let factor: Double
  public let longestDelay: Duration
  /// Up to which part of each delay is taken from it at random: 0 for nothing, 1 for all.
  public let randomPart: Double
  /// Whether the work is done again after this error.
  public let retries: @Sendable (any Error) -> Bool

  /// - Parameters:
  ///   - attempts: how often the work is done at most; at least 1.
  ///   - firstDelay: the longest delay after the first attempt.
  ///   - factor: by how much the longest delay grows with each attempt; at least 1.
  ///   - longestDelay: no delay is longer.
  ///   - randomPart: up to which part of each delay is taken from it at random, 0 to 1.
  ///   - retries: whether the work is done again after this error; by default it is, unless it was cancelled. A program that
  ///     cancels work under memory pressure lets ``OperationCancelledError`` with ``CancelReason/pressure`` be tried again.
  public init(
    attempts: Int, firstDelay: Duration = .seconds(1), factor: Double = 2, longestDelay: Duration = .seconds(60),
    randomPart: Double = 0.5,
    retries: @escaping @Sendable (any Error) -> Bool = { !($0 is OperationCancelledError || $0 is CancellationError) }
  ) {
    precondition(attempts >= 1, "attempts must be at least 1")
    precondition(factor >= 1, "factor must be at least 1")
    precondition((0...1).contains(randomPart), "randomPart must be 0 to 1")
    (self.attempts, self.firstDelay, self.factor, self.longestDelay) = (attempts, firstDelay, factor, longestDelay)
    (self.randomPart, self.retries) = (randomPart, retries)
  }

  /// The delay before the work is done again; nil if it is not.
  ///
  /// - Parameters:
  ///   - attempt: how often the work has been done, at least 1.
  ///   - error: why it did not succeed.
  ///   - random: from 0 to 1.
  public func delay(
    afterAttempt attempt: Int, _ error: any Error, random: Double = .random(in: 0...1)
  ) -> Duration? {
    guard attempt < attempts, retries(error) else { return nil }
    var delay = min(firstDelay, longestDelay)
    for _ in 1..<attempt where delay < longestDelay { delay = min(delay * factor, longestDelay) }
    return delay * (1 - randomPart + randomPart * random)
  }
}

extension BoundedOperationQueue {
  /// Submits an operation and waits for its result. If the task is cancelled, so is the operation.
  ///
  /// - Throws: the error of the operation; ``SubmitError``; or `CancellationError` when the task is cancelled.
  public nonisolated(nonsending) func result<Value>(of operation: ResultOperation<Value>) async throws -> Value {
    try await submit(operation)
    do { return try await resultOrCancel(operation) } catch {
      // Whether the task or the operation notices first is chance.
      try Task.checkCancellation()
      throw error
    }
  }

  private nonisolated(nonsending) func resultOrCancel<Value>(
    _ operation: ResultOperation<Value>
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await operation.result
    } onCancel: {
      operation.cancel()
    }
  }

  /// Submits an operation and waits for its result. If it does not succeed, and the policy says so, submits another one after a
  /// delay. Meanwhile the queue does not know of it: it takes neither a place nor a thread, and a drain does not wait for it. If the task is cancelled, so is the operation.
  ///
  /// - Parameters:
  ///   - policy: when the work is tried again.
  ///   - make: makes the operation of each attempt; the first is attempt 1.
  /// - Throws: the error of the last attempt; ``SubmitError``; or `CancellationError` when the task is cancelled.
  public nonisolated(nonsending) func result<Value>(
    retrying policy: RetryPolicy, _ make: (_ attempt: Int) -> ResultOperation<Value>
  ) async throws -> Value {
    var attempt = 1
    while true {
      let operation = make(attempt)
      try await submit(operation)
      do { return try await resultOrCancel(operation) } catch {
        try Task.checkCancellation()
        guard let delay = policy.delay(afterAttempt: attempt, error) else { throw error }
        try await clock.sleep(for: delay)
        attempt += 1
      }
    }
  }
}
