import Dispatch
import Synchronization

#if canImport(Glibc)
import CDispatch
#endif

/// Who may touch a ``Confined`` value.
public enum ConfinedOwner: Sendable {
  /// The thread that touches it first.
  case firstThread
  /// The operation of a bounded queue that touches it first.
  case firstOperation
  /// The work of this queue, and of queues that target it. Only a serial queue confines anything.
  case queue(DispatchQueue)
}

/// A value that is used without a lock, because only its owner touches it: one thread, one operation, or one serial queue.
/// Any other access traps, also in release builds. The message names the owner, the intruder, and where the value was made.
/// In debug builds it also has the calls that led to the owner's first access and to this one.
///
/// It states in code what a comment would state otherwise: "only the thread of the transfers calls this". A check takes
/// longer than a lock without contention. But nobody ever waits, and a mistake is found, where a lock would hide it.
///
/// *Concurrency*: ``withValue(_:)`` may be called by the owner only, and not within itself. The check itself may run on any
/// thread.
public struct Confined<Value>: ~Copyable, @unchecked Sendable {  // the checks confine the value
  private struct Touch {
    let name: String
    #if DEBUG
    let stack = CallStack()
    #endif
  }

  private let value: UnsafeMutablePointer<Value>
  private let owner: ConfinedOwner
  private let file: StaticString
  private let line: UInt
  /// The number of the owner; zero before its first access. A queue is number 1.
  private let number = Atomic(0)
  /// The owner's first access, for messages.
  private let first = Locked<Touch?>(nil)
  /// Whether an access is under way.
  private let isTouched = Atomic(false)
  /// The work of the queue finds it set.
  private let key = DispatchSpecificKey<Bool>()

  /// - Parameters:
  ///   - file: where the value is made. It is its name in messages.
  ///   - line: the line in that file.
  public init(
    _ value: Value, to owner: ConfinedOwner = .firstThread, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
    (self.owner, self.file, self.line) = (owner, file, line)
    if case .queue(let queue) = owner { queue.setSpecific(key: key, value: true) }
  }

  deinit {
    if case .queue(let queue) = owner { queue.setSpecific(key: key, value: nil) }
    value.deinitialize(count: 1)
    value.deallocate()
  }

  /// Calls `body` with the value. Traps unless the owner calls.
  public borrowing func withValue<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let caller = caller
    let known = number.load(ordering: .relaxed)
    if caller == 0 || known != caller { admit(caller) }
    if isTouched.exchange(true, ordering: .relaxed) { refuse("while another access to it is under way") }
    defer { isTouched.store(false, ordering: .relaxed) }
    return try body(&value.pointee)
  }

  /// Ends the ownership: who touches the value next is its owner. Only the owner may call it, and what it did before must
  /// happen before what the next one does, as by a lock or a new thread. Does nothing to a value of a queue.
  public borrowing func handOver() {
    withValue { _ in
      if case .queue = owner { return }
      first.withLock { $0 = nil }
      number.store(0, ordering: .relaxed)
    }
  }

  /// The number by which the caller would be the owner; zero if it cannot be.
  private var caller: Int {
    switch owner {
    case .firstThread: ThreadIdentity.current.serialNumber
    case .firstOperation: CurrentOperation.id
    case .queue: DispatchQueue.getSpecific(key: key) == nil ? 0 : 1
    }
  }

  /// Makes the caller the owner if there is none. Traps otherwise.
  private borrowing func admit(_ caller: Int) {
    let isOwner = first.withLock { first in
      guard caller != 0, first == nil else { return false }
      first = Touch(name: callerName)
      number.store(caller, ordering: .relaxed)
      return true
    }
    if !isOwner { refuse("which is not its owner") }
  }

  private var callerName: String {
    switch owner {
    case .firstThread: "thread \(ThreadIdentity.current.name)"
    case .firstOperation: CurrentOperation.name ?? "no operation, on thread \(ThreadIdentity.current.name)"
    case .queue(let queue):
      DispatchQueue.getSpecific(key: key) != nil
        ? "queue \(queue.label)"
        : "queue \(currentQueueLabel), on thread \(ThreadIdentity.current.name)"
    }
  }

  private borrowing func refuse(_ reason: String) -> Never {
    var text = "Confined<\(Value.self)> (\(file):\(line)) is touched by \(callerName), \(reason)"
    #if DEBUG
    text += "\n\(CallStack())"
    #endif
    if let first = first.withLock({ $0 }) {
      text += "\nowner: \(first.name)"
      #if DEBUG
      text += ", whose first access was\n\(first.stack)"
      #endif
    } else if case .queue(let queue) = owner {
      text += "\nowner: queue \(queue.label)"
    }
    fatalError(text)
  }
}

/// The label of the queue whose work the current thread carries out; one of the system's on other threads.
private var currentQueueLabel: String {
  #if canImport(Glibc)
  String(cString: dispatch_queue_get_label(nil))
  #else
  String(cString: __dispatch_queue_get_label(nil))
  #endif
}
