import Foundation

/// A value and the mutex that guards it: the only way to the value is under the lock.
///
/// A POSIX mutex, not `Synchronization.Mutex`: on Linux that one is a futex inside a library which the thread sanitizer
/// does not see into, so that every correctly locked access is reported as a race and a real one is lost among them.
/// Uncontended the two cost the same, 40 ns; with ten threads on two cores `Mutex` gets through a tenth, and for the
/// account's own pattern nothing was ahead of this one by more than the noise (docs/lock-study.md).
///
/// *Concurrency*: not recursive. Keep what is done under it short, and call nobody else's code.
///
/// Inlinable, because it is generic: called across modules unspecialised it copies what it guards, which halved the
/// operations a queue gets through.
@frozen public struct Locked<Value>: ~Copyable, @unchecked Sendable {  // the mutex guards the value
  @frozen @usableFromInline struct Storage {
    @usableFromInline var mutex: pthread_mutex_t
    @usableFromInline var value: Value

    @inlinable init(mutex: pthread_mutex_t, value: Value) { (self.mutex, self.value) = (mutex, value) }
  }

  /// On the heap, because a POSIX mutex must not move.
  @usableFromInline let storage: UnsafeMutablePointer<Storage>
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

  @inlinable public init(_ value: Value) {
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
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&storage.pointee.value)
  }
}
