import Foundation

/// Runs `body`, which may block, on a thread of its own. A test that blocked a thread of the cooperative pool would leave
/// one fewer for the rest, and on two processors hide every race.
public func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
  }
}

/// Polls `condition` until it holds. For what has no event to wait on, such as "the other thread blocks now"; gives up
/// after `seconds` and says so by returning false.
public func eventually(within seconds: Double = 60, _ condition: @Sendable () -> Bool) async throws -> Bool {
  let deadline = ContinuousClock.now + .seconds(seconds)
  while !condition() {
    guard ContinuousClock.now < deadline else { return false }
    try await Task.sleep(for: .milliseconds(2))
  }
  return true
}
