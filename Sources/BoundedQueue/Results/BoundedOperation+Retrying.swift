extension BoundedOperation {
  /// Does a part of the work, and does it again after a failure if the policy says so. The operation waits in between, in the
  /// stage `waiting to try again`, and keeps its place: for long delays, try again with another operation
  /// (``BoundedOperationQueue/result(retrying:_:)``). The next attempt begins in the stage `trying again`. Call it in
  /// ``BoundedOperation/execute()`` only.
  ///
  /// - Parameters:
  ///   - policy: after which errors and delays the work is done again.
  ///   - work: receives the number of the attempt; the first is attempt 1.
  /// - Throws: the error of the last attempt, or ``OperationCancelledError``.
  @available(*, noasync)
  public final func retrying<Value>(_ policy: RetryPolicy, _ work: (_ attempt: Int) throws -> Value) throws -> Value {
    var attempt = 1
    while true {
      do { return try work(attempt) } catch {
        try checkCancelled()
        guard let delay = policy.delay(afterAttempt: attempt, error) else { throw error }
        report(stage: "waiting to try again")
        try pause(for: delay)
        report(stage: "trying again")
        attempt += 1
      }
    }
  }
}
