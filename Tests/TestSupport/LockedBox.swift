import Foundation

/// A value guarded by a lock, for data that tests collect from many threads.
public final class LockedBox<Value>: @unchecked Sendable {  // the lock guards the value
  private let lock = NSLock()
  private var stored: Value

  public init(_ value: Value) { stored = value }

  public var value: Value { lock.withLock { stored } }

  public func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&stored) }
  }
}
