import Dispatch

/// A value that readers share, by two semaphores and a count of readers: the first of the two solutions that Courtois,
/// Heymans and Parnas gave to the problem of readers and writers.
///
/// The first reader takes the semaphore of the value, for all readers, and the last one gives it back. A writer takes that
/// semaphore for itself. Readers are preferred: while they overlap, a writer waits. These are semaphores and no mutexes,
/// because the last reader is often on another thread than the first.
///
/// *Concurrency*: as ``Guard``.
///
/// *Source*: Courtois, Heymans, Parnas: Concurrent Control with "Readers" and "Writers", CACM 14 (1971), problem 1.
@frozen public struct SemaphoreLocked<Value>: Guard, ~Copyable, @unchecked Sendable {  // see the semaphores
  @frozen @usableFromInline struct Storage {
    /// Guarded by `counting`.
    @usableFromInline var readers = 0
    /// Guarded by `free`.
    @usableFromInline var value: Value

    @inlinable init(value: Value) { self.value = value }
  }

  @usableFromInline let storage: UnsafeMutablePointer<Storage>
  /// Taken while the readers are counted.
  @usableFromInline let counting = DispatchSemaphore(value: 1)
  /// Taken by a writer, or by the readers together.
  @usableFromInline let free = DispatchSemaphore(value: 1)
  @usableFromInline let witness: LockWitness

  @inlinable public init(_ value: Value, file: StaticString = #fileID, line: UInt = #line) {
    witness = LockWitness("SemaphoreLocked", of: Value.self, file: file, line: line)
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage(value: value))
  }

  @inlinable deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  @inlinable public borrowing func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    witness.willLock()
    counting.wait()
    storage.pointee.readers += 1
    if storage.pointee.readers == 1 { free.wait() }
    counting.signal()
    witness.didLock(.shared)
    defer {
      witness.willUnlock()
      counting.wait()
      storage.pointee.readers -= 1
      if storage.pointee.readers == 0 { free.signal() }
      counting.signal()
    }
    return try body(storage.pointee.value)
  }

  @inlinable public borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    witness.willLock()
    free.wait()
    witness.didLock(.exclusive)
    defer {
      witness.willUnlock()
      free.signal()
    }
    return try body(&storage.pointee.value)
  }
}
