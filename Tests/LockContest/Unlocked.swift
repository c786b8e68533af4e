import Locking

/// A value without a lock, which is only read.
struct Unlocked<Value>: Guard, ~Copyable, @unchecked Sendable {  // nobody writes
  private let value: Value

  init(guarding value: Value, file: StaticString, line: UInt) { self.value = value }

  borrowing func read<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
    try body(value)
  }

  borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    preconditionFailure("there is no lock for a write")
  }
}
