/// A value and the readers-writer lock that guards it. A reader never waits for a writer that waits.
///
/// So writers wait for as long as there are readers, if these overlap: one of a hundred for 23 ms among 16 threads
/// (docs/lock-study.md). Take it where readers need long, and writes are rare and may be late.
///
/// *Concurrency*: as ``Guard``.
@frozen public struct ReaderPreferringLocked<Value>: Guard, ~Copyable, Sendable {
  @usableFromInline let storage: ReadWriteStorage<Value>

  @inlinable public init(_ value: Value, file: StaticString = #fileID, line: UInt = #line) {
    let witness = LockWitness("ReaderPreferringLocked", of: Value.self, file: file, line: line)
    storage = ReadWriteStorage(value, prefersWriters: false, witness: witness)
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
