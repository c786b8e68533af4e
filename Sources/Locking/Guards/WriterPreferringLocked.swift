/// A value and the readers-writer lock that guards it. While a writer waits, no further reader is let in.
///
/// So readers wait for as long as there are writers, if these overlap. On Linux only: elsewhere the system decides whom it
/// prefers.
///
/// *Concurrency*: as ``Guard``.
@frozen public struct WriterPreferringLocked<Value>: Guard, ~Copyable, Sendable {
  @usableFromInline let storage: ReadWriteStorage<Value>

  @inlinable public init(_ value: Value, file: StaticString = #fileID, line: UInt = #line) {
    let witness = LockWitness("WriterPreferringLocked", of: Value.self, file: file, line: line)
    storage = ReadWriteStorage(value, prefersWriters: true, witness: witness)
  }

  @inlinable public borrowing func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.read(body)
  }

  @inlinable public borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.write(body)
  }
}
