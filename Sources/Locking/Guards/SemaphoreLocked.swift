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
  /// The number of readers. Guarded by `counting`.
  ///
  /// It is apart from the value, because changing a part of a struct is an access to all of it, and the two are changed at
  /// the same time.
  @usableFromInline let readers: UnsafeMutablePointer<Int>
  /// Guarded by `free`.
  @usableFromInline let value: UnsafeMutablePointer<Value>
  /// Taken while the readers are counted.
  @usableFromInline let counting = DispatchSemaphore(value: 1)
  /// Taken by a writer, or by the readers together.
  @usableFromInline let free = DispatchSemaphore(value: 1)
  @usableFromInline let witness: LockWitness

  @inlinable public init(guarding value: Value, file: StaticString, line: UInt) {
    witness = LockWitness("SemaphoreLocked", of: Value.self, file: file, line: line)
    readers = .allocate(capacity: 1)
    readers.initialize(to: 0)
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
  }

  @inlinable deinit {
    readers.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }

  @inlinable public borrowing func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    witness.willLock()
    counting.wait()
    readers.pointee += 1
    if readers.pointee == 1 { free.wait() }
    counting.signal()
    witness.didLock(.shared)
    defer {
      witness.willUnlock()
      counting.wait()
      readers.pointee -= 1
      if readers.pointee == 0 { free.signal() }
      counting.signal()
    }
    return try body(value.pointee)
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
    return try body(&value.pointee)
  }
}
