import Foundation

/// A value and the readers-writer lock of the system that guards it.
///
/// *Concurrency*: as ``Guard``.
@frozen @usableFromInline struct ReadWriteStorage<Value>: ~Copyable, @unchecked Sendable {  // the lock guards the value
  @frozen @usableFromInline struct Storage {
    @usableFromInline var lock: pthread_rwlock_t
    @usableFromInline var value: Value

    @inlinable init(lock: pthread_rwlock_t, value: Value) { (self.lock, self.value) = (lock, value) }
  }

  /// The lock and the value. They are on the heap, because a POSIX lock must not move.
  @usableFromInline let storage: UnsafeMutablePointer<Storage>
  @usableFromInline let lock: UnsafeMutablePointer<pthread_rwlock_t>
  @usableFromInline let witness: LockWitness

  @usableFromInline init(_ value: Value, prefersWriters: Bool, witness: LockWitness) {
    self.witness = witness
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage(lock: pthread_rwlock_t(), value: value))
    guard let lock = storage.pointer(to: \.lock) else { preconditionFailure("a stored property has an address") }
    self.lock = lock
    var attributes = pthread_rwlockattr_t()
    pthread_rwlockattr_init(&attributes)
    defer { pthread_rwlockattr_destroy(&attributes) }
    #if canImport(Glibc)
      // PTHREAD_RWLOCK_PREFER_WRITER_NP would prefer readers all the same: pthread_rwlockattr_setkind_np(3).
      let kind = prefersWriters ? PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP : PTHREAD_RWLOCK_PREFER_READER_NP
      pthread_rwlockattr_setkind_np(&attributes, CInt(kind))
    #endif
    let status = pthread_rwlock_init(lock, &attributes)
    precondition(status == 0, "pthread_rwlock_init: \(String(cString: strerror(status)))")
  }

  @inlinable deinit {
    pthread_rwlock_destroy(lock)
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  @inlinable borrowing func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    witness.willLock()
    let status = pthread_rwlock_rdlock(lock)
    precondition(status == 0, "pthread_rwlock_rdlock: \(String(cString: strerror(status)))")
    witness.didLock(.shared)
    defer {
      witness.willUnlock()
      pthread_rwlock_unlock(lock)
    }
    return try body(storage.pointee.value)
  }

  @inlinable borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    witness.willLock()
    let status = pthread_rwlock_wrlock(lock)
    precondition(status == 0, "pthread_rwlock_wrlock: \(String(cString: strerror(status)))")
    witness.didLock(.exclusive)
    defer {
      witness.willUnlock()
      pthread_rwlock_unlock(lock)
    }
    return try body(&storage.pointee.value)
  }
}
