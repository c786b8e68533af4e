import Locking
import Synchronization

/// A value and the mutex of the standard library, on Linux a futex with priority inheritance.
struct MutexLocked<Value>: Guard, ~Copyable {
  /// The mutex would otherwise want proof that `body` keeps no part of the value.
  private struct Guarded: @unchecked Sendable {  // the mutex guards the value
    var value: Value
  }

  private let mutex: Mutex<Guarded>

  init(guarding value: Value, file: StaticString, line: UInt) { mutex = Mutex(Guarded(value: value)) }

  borrowing func read<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
    try write { value throws(Failure) in try body(value) }
  }

  borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // `withLock` wants a result that may be sent.
    var result: Result?
    try mutex.withLock { guarded throws(Failure) in result = try body(&guarded.value) }
    guard let result else { preconditionFailure("`withLock` has called its closure") }
    return result
  }
}
