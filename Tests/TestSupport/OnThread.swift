import Foundation

/// Runs `body`, which may block, on a new thread. A test that blocks a thread of Swift's pool leaves one fewer for the
/// others, and hides every race on two processors.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await result(of: { end in Thread.detachNewThread { end(Result(catching: body)) } })
}

/// The result that `start` passes to its argument, once, on any thread.
///
/// It passes through a lock, because the thread sanitizer does not see that a continuation is resumed before its task
/// goes on: what the other thread has written would pass for a race.
public func result<Value: Sendable>(
  of start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
) async throws -> Value {
  let result = LockedBox<Result<Value, any Error>?>(nil)
  await withCheckedContinuation { continuation in
    start { found in
      result.change { $0 = found }
      continuation.resume()
    }
  }
  guard let found = result.value else { preconditionFailure("resumed without a result") }
  return try found.get()
}

/// Polls `condition` until it is true. For states without an event to wait for, such as "the other thread is blocked".
///
/// - Returns: false if the condition was not true within `seconds`.
public func eventually(within seconds: Double = 60, _ condition: @Sendable () -> Bool) async throws -> Bool {
  let deadline = ContinuousClock.now + .seconds(seconds)
  while !condition() {
    guard ContinuousClock.now < deadline else { return false }
    try await Task.sleep(for: .milliseconds(2))
  }
  return true
}
