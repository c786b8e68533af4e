import Foundation

/// A value and the mutex that guards it. The value can be reached only under the lock.
///
/// It is a POSIX mutex and not `Synchronization.Mutex`. On Linux the latter is a futex inside a library that the thread
/// sanitizer cannot see into: it would report every correctly locked access as a race, and a real race would be lost
/// among these reports. `Mutex` is also slower where threads compete for it. A lock that readers share allows up to twice
/// the accesses, and lets writers wait for milliseconds instead of microseconds (docs/lock-study.md).
///
/// *Concurrency*: the mutex is not recursive. Keep the work under it short, and call no foreign code there.
///
/// It is inlinable because it is generic: unspecialised calls from other modules copy the guarded value, which halved
/// the throughput of a queue.
@frozen public struct Locked<Value>: Guard, ~Copyable, @unchecked Sendable {  // the mutex guards the value
  @frozen @usableFromInline struct Storage {
    @usableFromInline var mutex: pthread_mutex_t
    @usableFromInline var value: Value

    @inlinable init(mutex: pthread_mutex_t, value: Value) { (self.mutex, self.value) = (mutex, value) }
  }

  /// The mutex and the value. They are on the heap, because a POSIX mutex must not move.
  @usableFromInline let storage: UnsafeMutablePointer<Storage>
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// It is not beside the value: one of no size would have the same address, and the thread sanitizer would take the two
  /// for one variable.
  @usableFromInline let witness: LockWitness

  @inlinable public init(guarding value: Value, file: StaticString, line: UInt) {
    witness = LockWitness("Locked", of: Value.self, file: file, line: line)
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage(mutex: pthread_mutex_t(), value: value))
    guard let mutex = storage.pointer(to: \.mutex) else { preconditionFailure("a stored property has an address") }
    self.mutex = mutex
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "pthread_mutex_init: \(String(cString: strerror(status)))")
  }

  @inlinable deinit {
    pthread_mutex_destroy(mutex)
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    witness.willLock()
    pthread_mutex_lock(mutex)
    witness.didLock(.exclusive)
    defer {
      witness.willUnlock()
      pthread_mutex_unlock(mutex)
    }
    return try body(&storage.pointee.value)
  }

  /// ``withLock(_:)``: a mutex lets one reader in at a time.
  @inlinable public borrowing func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withLock { value throws(Failure) in try body(value) }
  }

  /// ``withLock(_:)``.
  @inlinable public borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withLock(body)
  }
}
