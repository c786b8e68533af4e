import Synchronization

/// A value behind a lock, for what tests collect from many threads.
public final class LockedBox<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  public init(_ value: Value) { mutex = Mutex(value) }

  public var value: Value { mutex.withLock { $0 } }

  public func change<Result: Sendable>(_ body: @Sendable (inout Value) throws -> Result) rethrows -> Result {
    try mutex.withLock { value in
      var copy = value
      defer { value = copy }
      return try body(&copy)
    }
  }
}
