/// A value that several threads use, and that something outside of it guards: a lock that is held meanwhile, or that only
/// one thread at a time has the object with the value.
///
/// It guards nothing. But while the ``AccessRecorder`` is on in a debug build, the set of locks that the thread holds is
/// recorded at each access. If no lock was held at all accesses of several threads, at least one of which changed the value,
/// then nothing guards it, and the recording reports it with two accesses as examples. So a missing lock is found without the
/// two accesses having to meet. In release builds it is the value alone, because there no thread knows what locks it holds.
///
/// Only the locks of `Locking` are known. Where another means passes the value from thread to thread, such as a queue of idle
/// objects, ``handOver()`` says so.
///
/// *Concurrency*: accesses must not overlap unless all of them are reads.
///
/// *Source*: Savage, Burrows, Nelson, Sobalvarro, Anderson: Eraser: A Dynamic Data Race Detector for Multithreaded Programs,
/// ACM TOCS 15 (1997), section 2.
@frozen public struct Shared<Value>: ~Copyable, @unchecked Sendable {  // what guards it is outside
  @usableFromInline let value: UnsafeMutablePointer<Value>
  #if DEBUG
  @usableFromInline let history: AccessHistory
  #endif

  /// - Parameters:
  ///   - file: where the value is made. It is its name in reports.
  ///   - line: the line in that file.
  @inlinable public init(_ value: Value, file: StaticString = #fileID, line: UInt = #line) {
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
    #if DEBUG
    history = AccessHistory(Value.self, file: file, line: line)
    #endif
  }

  @inlinable deinit {
    value.deinitialize(count: 1)
    value.deallocate()
  }

  /// Calls `body`, which reads the value.
  @inlinable public borrowing func read<Result, Failure: Error>(
    file: StaticString = #fileID, line: UInt = #line, _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    #if DEBUG
    history.record(isWrite: false, file: file, line: line)
    #endif
    return try body(value.pointee)
  }

  /// Calls `body`, which may change the value.
  @inlinable public borrowing func modify<Result, Failure: Error>(
    file: StaticString = #fileID, line: UInt = #line, _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    #if DEBUG
    history.record(isWrite: true, file: file, line: line)
    #endif
    return try body(&value.pointee)
  }

  /// Says that no thread uses the value now, and that the next access happens after all earlier ones by some other means
  /// than a lock held at each. The thread of the next access then has it for itself, as when it was made.
  @inlinable public borrowing func handOver() {
    #if DEBUG
    history.forget()
    #endif
  }
}
