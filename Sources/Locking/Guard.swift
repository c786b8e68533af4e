/// A value with the lock that guards it, which can be reached only under that lock.
///
/// The guards are interchangeable: code that is generic over them takes the one that suits how often its value is read and
/// written. ``Locked`` is a mutex. ``ReaderPreferringLocked`` and ``WriterPreferringLocked`` let readers in together.
/// ``SemaphoreLocked`` does so with two semaphores, and ``BarrierLocked`` with a queue, whose writers need not wait.
///
/// A guard cannot be copied, and destroys its lock when its life ends. So neither a copied lock nor a forgotten destroy is
/// possible.
///
/// *Concurrency*: every member may be called from any thread. No guard is recursive: a thread in `read` or `write` must
/// call neither of the same guard, not even `read` in `read`, because a writer may wait between the two. Two guards must
/// always be taken in the same order. Debug builds trap at the first call that breaks one of these rules, also if no thread
/// would wait for ever this time. The message names the guards by the places where they were made.
public protocol Guard<Value>: ~Copyable, Sendable {
  associatedtype Value

  /// What each guard implements. Users call `init(_:file:line:)`. It has another label than this one, because otherwise it
  /// would also be the implementation of a guard that has none, and call itself for ever.
  ///
  /// - Parameters:
  ///   - file: where the guard is made. It is its name in messages of debug builds.
  ///   - line: the line in that file.
  init(guarding value: Value, file: StaticString, line: UInt)

  /// Calls `body` while no thread writes. Other threads may read at the same time, except with ``Locked``.
  borrowing func read<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result

  /// Calls `body` while no other thread reads or writes.
  borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result

  /// Calls `body` as ``write(_:)`` does, perhaps after this call has returned. Each later `read` or `write` of the same
  /// thread finds it done.
  ///
  /// Only ``BarrierLocked`` returns before; with the other guards, this is `write`.
  borrowing func writeAsync(_ body: @escaping @Sendable (inout Value) -> Void)
}

extension Guard where Self: ~Copyable {
  /// Makes the guard. Its name in messages is the place of this call.
  @inlinable public init(_ value: Value, file: StaticString = #fileID, line: UInt = #line) {
    self.init(guarding: value, file: file, line: line)
  }

  @inlinable public borrowing func writeAsync(_ body: @escaping @Sendable (inout Value) -> Void) { write(body) }
}
