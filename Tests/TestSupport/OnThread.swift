import Foundation

/// Runs `body`, which may block, on a new thread. A test that blocks a thread of Swift's pool leaves one fewer for the
/// others, and hides every race on two processors.
public func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
  }
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
