/// What a guard tells of itself to the checks of debug builds. In release builds it is empty, and so are its methods.
///
/// The condition `DEBUG` is that of the build of this module. Its clients take layout and bodies from the module's file,
/// so that they cannot disagree with it, whatever they are built with.
@frozen @usableFromInline struct LockWitness: Sendable {
  #if DEBUG
  @usableFromInline let record: LockRecord
  #endif

  /// - Parameters:
  ///   - guardName: the name of the type of the guard.
  ///   - type: the type of the value.
  ///   - file: where the guard is made.
  @inlinable init(_ guardName: StaticString, of type: @autoclosure () -> Any.Type, file: StaticString, line: UInt) {
    #if DEBUG
    record = LockRecord(guardName, of: type(), file: file, line: line)
    #endif
  }

  /// Before the thread waits for the lock. Traps if this thread holds it already, or if the lock and one that the thread
  /// holds were taken in the opposite order before.
  @inlinable func willLock() {
    #if DEBUG
    HeldLocks.current.willLock(record)
    #endif
  }

  /// After the thread has got the lock.
  @inlinable func didLock(_ mode: @autoclosure () -> LockMode) {
    #if DEBUG
    HeldLocks.current.didLock(record, mode())
    #endif
  }

  /// Before the thread releases the lock.
  @inlinable func willUnlock() {
    #if DEBUG
    HeldLocks.current.willUnlock(record)
    #endif
  }
}

/// How a thread holds a lock.
@frozen @usableFromInline enum LockMode: Sendable {
  /// Together with other readers.
  case shared
  /// Alone.
  case exclusive
}
