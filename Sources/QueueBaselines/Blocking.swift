import Dispatch
import Locking

/// Runs an asynchronous function, and returns when it has ended.
///
/// - Parameter running: receives the task, so that another thread can cancel it.
func blocking(_ running: borrowing Locked<Task<Void, Never>?>, _ body: @escaping @Sendable () async -> Void) {
  let ended = DispatchSemaphore(value: 0)
  // Under the lock, so that a thread which the running task tells to cancel it finds it.
  running.withLock { running in
    running = Task {
      await body()
      ended.signal()
    }
  }
  ended.wait()
}
