import Locking

// Pauses within the work of an operation that has a thread.

extension BoundedOperation {
  /// Blocks the thread of the work for a while. The operation keeps its place and its memory, so let it be a short while.
  ///
  /// The queue's clock measures the time.
  ///
  /// - Throws: ``OperationCancelledError`` as soon as the operation is cancelled.
  public final func pause(for duration: Duration) throws(OperationCancelledError) {
    let alarm = TimedSignal()
    let (queue, isCancelled) = state.withLock { state in
      state.alarm = alarm
      return (state.queue, state.cancelReason != nil)
    }
    if !isCancelled {
      let clock = queue?.clock ?? ContinuousClock()
      let timer = Task.detached {
        if (try? await clock.sleep(for: duration)) != nil { alarm.signal() }
      }
      // Some time limit is needed; the clock decides when the pause is over.
      _ = alarm.wait(upTo: .seconds(1 << 33))
      timer.cancel()
    }
    state.withLock { $0.alarm = nil }
    try checkCancelled()
  }

  /// Does a part of the work, and does it again after a failure if the policy says so. The operation waits in between, in the stage
  /// `waiting to try again`, and keeps its place: for long delays, try again with another operation
  /// (``BoundedOperationQueue/result(retrying:_:)``).
  ///
  /// - Parameter work: receives the number of the attempt; the first is attempt 1.
  /// - Throws: the error of the last attempt, or ``OperationCancelledError``.
  public final func retrying<Value>(_ policy: RetryPolicy, _ work: (_ attempt: Int) throws -> Value) throws -> Value {
    var attempt = 1
    while true {
      do { return try work(attempt) } catch {
        try checkCancelled()
        guard let delay = policy.delay(afterAttempt: attempt, error) else { throw error }
        report(stage: "waiting to try again")
        try pause(for: delay)
        attempt += 1
      }
    }
  }
}
