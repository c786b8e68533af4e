import Foundation

/// A value and the readers-writer lock that guards it. A reader never waits for a writer that waits.
///
/// So writers wait for as long as there are readers, if these overlap (docs/lock-study.md). Take it where readers need
/// long, and writes are rare and may be late.
public typealias ReaderPreferringLocked<Value> = ReadWriteLocked<Value, PreferringReaders>

/// A value and the readers-writer lock that guards it. While a writer waits, no further reader is let in.
///
/// So readers wait for as long as there are writers, if these overlap. On Linux only: elsewhere the system decides whom it
/// prefers.
public typealias WriterPreferringLocked<Value> = ReadWriteLocked<Value, PreferringWriters>

/// A value and the readers-writer lock of the system that guards it.
///
/// *Concurrency*: as ``Guard``.
@frozen public struct ReadWriteLocked<Value, Preference>: Guard, ~Copyable, @unchecked Sendable
where Preference: ReadWritePreference {  // the lock guards the value
  @frozen @usableFromInline struct Storage {
    @usableFromInline var lock: pthread_rwlock_t
    @usableFromInline var value: Value

    @inlinable init(lock: pthread_rwlock_t, value: Value) { (self.lock, self.value) = (lock, value) }
  }

  /// The lock and the value. They are on the heap, because a POSIX lock must not move.
  @usableFromInline let storage: UnsafeMutablePointer<Storage>
  @usableFromInline let lock: UnsafeMutablePointer<pthread_rwlock_t>
  @usableFromInline let witness: LockWitness

  @inlinable public init(guarding value: Value, file: StaticString, line: UInt) {
    witness = LockWitness(Preference.guardName, of: Value.self, file: file, line: line)
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage(lock: pthread_rwlock_t(), value: value))
    guard let lock = storage.pointer(to: \.lock) else { preconditionFailure("a stored property has an address") }
    self.lock = lock
    var attributes = pthread_rwlockattr_t()
    pthread_rwlockattr_init(&attributes)
    defer { pthread_rwlockattr_destroy(&attributes) }
    #if canImport(Glibc)
    // PTHREAD_RWLOCK_PREFER_WRITER_NP would prefer readers all the same: pthread_rwlockattr_setkind_np(3).
    let kind =
      Preference.prefersWriters ? PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP : PTHREAD_RWLOCK_PREFER_READER_NP
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

  @inlinable public borrowing func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try hold(.shared, pthread_rwlock_rdlock) { () throws(Failure) in try body(storage.pointee.value) }
  }

  @inlinable public borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try hold(.exclusive, pthread_rwlock_wrlock) { () throws(Failure) in try body(&storage.pointee.value) }
  }

  /// Always inlined, so that the function that takes the lock is called directly.
  @inlinable @inline(__always) borrowing func hold<Result, Failure: Error>(
    _ mode: LockMode, _ take: (UnsafeMutablePointer<pthread_rwlock_t>) -> CInt,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    witness.willLock()
    let status = take(lock)
    precondition(status == 0, "a readers-writer lock cannot be taken: \(String(cString: strerror(status)))")
    witness.didLock(mode)
    defer {
      witness.willUnlock()
      pthread_rwlock_unlock(lock)
    }
    return try body()
  }
}

/// Whom a ``ReadWriteLocked`` lets in first, if readers and writers wait.
public protocol ReadWritePreference {
  /// The name of the guard in messages.
  static var guardName: StaticString { get }
  static var prefersWriters: Bool { get }
}

public enum PreferringReaders: ReadWritePreference {
  public static var guardName: StaticString { "ReaderPreferringLocked" }
  public static var prefersWriters: Bool { false }
}

public enum PreferringWriters: ReadWritePreference {
  public static var guardName: StaticString { "WriterPreferringLocked" }
  public static var prefersWriters: Bool { true }
}
