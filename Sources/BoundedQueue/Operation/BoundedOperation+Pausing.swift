import Locking

extension BoundedOperation {
  /// Blocks the thread of the work for a while. The operation keeps its place and its memory, so let it be a short while.
  /// Call it in ``execute()`` only, on the thread of that call. The queue's clock measures the time.
  ///
  /// - Parameter duration: how long.
  /// - Throws: ``OperationCancelledError`` as soon as the operation is cancelled.
  @available(*, noasync)
  public final func pause(for duration: Duration) throws(OperationCancelledError) {
    let alarm = TimedSignal()
    let (queue, isCancelled) = state.withLock { state in
      state.alarm = alarm
      return (state.queue, state.cancelReason != nil)
    }
    if !isCancelled, let clock = queue?.clock, !(clock is ContinuousClock) {
      let timer = Task.detached {
        if (try? await clock.sleep(for: duration)) != nil { alarm.signal() }
      }
      // Some time limit is needed; the clock decides when the pause is over.
      _ = alarm.wait(upTo: .seconds(1 << 33))
      timer.cancel()
    } else if !isCancelled {
      // A task would need another thread. In a process that gets none, the pause would never end.
      _ = alarm.wait(upTo: duration)
    }
    state.withLock { $0.alarm = nil }
    try checkCancelled()
  }
}
