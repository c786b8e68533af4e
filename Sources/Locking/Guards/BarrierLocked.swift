import Dispatch

/// A value and a concurrent queue that guards it: reads run together, and each write is a barrier, which runs alone.
///
/// Reads and writes are served in the order in which they came, so neither are preferred. Each guard has a queue of its
/// own, because a barrier on a global queue does not keep other blocks out.
///
/// ``writeAsync(_:)`` returns at once. Its write runs when Dispatch's pool has a thread for it, and every later read
/// waits for that write. So a read takes a second if all threads of the pool are busy for a second.
///
/// *Concurrency*: as ``Guard``. The value lives until its last write has ended, which may be after the guard's end.
public struct BarrierLocked<Value>: Guard, ~Copyable, Sendable {
  private final class Storage: @unchecked Sendable {  // the queue guards the value
    let queue = DispatchQueue(label: "guard", attributes: .concurrent)
    let witness: LockWitness
    var value: Value

    init(_ value: Value, _ witness: LockWitness) { (self.value, self.witness) = (value, witness) }

    func hold<Result>(_ mode: LockMode, _ body: () -> Result) -> Result {
      witness.didLock(mode)
      defer { witness.willUnlock() }
      return body()
    }
  }

  private let storage: Storage

  public init(guarding value: Value, file: StaticString, line: UInt) {
    storage = Storage(value, LockWitness("BarrierLocked", of: Value.self, file: file, line: line))
  }

  public borrowing func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let storage = storage
    storage.witness.willLock()
    // Dispatch would let only untyped errors through.
    let result = storage.queue.sync {
      storage.hold(.shared) { Swift.Result { () throws(Failure) in try body(storage.value) } }
    }
    return try result.get()
  }

  public borrowing func write<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let storage = storage
    storage.witness.willLock()
    let result = storage.queue.sync(flags: .barrier) {
      storage.hold(.exclusive) { Swift.Result { () throws(Failure) in try body(&storage.value) } }
    }
    return try result.get()
  }

  public borrowing func writeAsync(_ body: @escaping @Sendable (inout Value) -> Void) {
    storage.queue.async(flags: .barrier) { [storage] in storage.hold(.exclusive) { body(&storage.value) } }
  }
}
