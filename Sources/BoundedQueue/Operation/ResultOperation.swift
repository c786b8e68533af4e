import Locking

/// An operation whose work has a result, which operations that depend on it can read.
///
/// Give it a closure, or subclass it and override ``makeResult()``. A closure with an `await` is a task: it takes a place of the
/// queue but no thread, has the task-local values of its producer, and is cancelled with the operation. One without blocks a thread,
/// and learns of a cancellation or of the end of its time only in a subclass, by ``BoundedOperation/checkCancelled()``. The work of an operation *after* others gets their
/// results; it starts when all of them have succeeded, and it is cancelled if one of them does not:
///
/// ```swift
/// func makePage(of user: String) async throws -> String {
///   try await withBoundedQueue(maxConcurrentOperations: 2) { queue in
///     let profile = ResultOperation(title: "profile of \(user)") { try await fetch("/profiles/\(user)") }
///     let photos = ResultOperation(title: "photos of \(user)") { try await fetch("/photos/\(user)") }
///     let page = ResultOperation(title: "page of \(user)", after: profile, photos) { $0 + $1 }
///     for operation in [profile, photos, page] { try await queue.submit(operation) }
///     return try await page.result
///   }
/// }
/// ```
///
/// *Concurrency*: as for ``BoundedOperation``. A lock guards work and result, which is written once, before the operation ends.
nonisolated open class ResultOperation<Value: Sendable>: BoundedOperation, @unchecked Sendable {
  private enum Work {
    case onThread(@Sendable () throws -> Value)
    case task(@Sendable () async throws -> Value)
  }

  private struct Content {
    /// The work, if it is a closure. It is released when it begins.
    var work: Work?
    var value: Value?
  }

  private let content: Locked<Content>

  /// For subclasses, which override ``makeResult()``.
  ///
  /// - Parameters:
  ///   - title: a one-line description of the work, for people.
  ///   - kind: a word for what it does; nil if no program needs it.
  ///   - subject: what it works on; nil if no program needs it.
  ///   - key: what it shares with operations of which only some may run at once; nil if nothing.
  ///   - bytes: what is reserved of the queue's budget while the work runs.
  ///   - timeLimit: how long the work may take; nil means no limit.
  public override init(
    title: String, kind: String? = nil, subject: String? = nil, key: String? = nil, reserving bytes: Int = 0,
    timeLimit: Duration? = nil
  ) {
    content = Locked(Content())
    super.init(
      title: title, kind: kind, subject: subject, key: key, reserving: bytes, timeLimit: timeLimit, takesThread: true)
  }

  /// - Parameters:
  ///   - title: a one-line description of the work.
  ///   - kind: a word for what it does; nil if no program needs it.
  ///   - key: what it shares with operations of which only some may run at once; nil if nothing.
  ///   - bytes: what is reserved of the queue's budget while the work runs.
  ///   - timeLimit: how long the work may take; nil means no limit.
  ///   - work: makes the result, on a thread of the queue.
  public init(
    title: String, kind: String? = nil, key: String? = nil, reserving bytes: Int = 0, timeLimit: Duration? = nil,
    work: @escaping @Sendable () throws -> Value
  ) {
    content = Locked(Content(work: .onThread(work)))
    super.init(title: title, kind: kind, key: key, reserving: bytes, timeLimit: timeLimit, takesThread: true)
  }

  /// - Parameters:
  ///   - title: a one-line description of the work.
  ///   - kind: a word for what it does; nil if no program needs it.
  ///   - key: what it shares with operations of which only some may run at once; nil if nothing.
  ///   - bytes: what is reserved of the queue's budget while the work runs.
  ///   - timeLimit: how long the work may take; nil means no limit. Then the task is cancelled.
  ///   - work: makes the result, in a task. It takes a place of the queue but no thread. The task is cancelled with the
  ///     operation, and has the priority and the task-local values of the task that submits it.
  public init(
    title: String, kind: String? = nil, key: String? = nil, reserving bytes: Int = 0, timeLimit: Duration? = nil,
    work: @escaping @Sendable () async throws -> Value
  ) {
    content = Locked(Content(work: .task(work)))
    super.init(title: title, kind: kind, key: key, reserving: bytes, timeLimit: timeLimit, takesThread: false)
  }

  /// - Parameters:
  ///   - title: a one-line description of the work.
  ///   - inputs: the operations whose results the work needs. Submit them first.
  ///   - kind: a word for what it does; nil if no program needs it.
  ///   - key: what it shares with operations of which only some may run at once; nil if nothing.
  ///   - bytes: what is reserved of the queue's budget while the work runs.
  ///   - timeLimit: how long the work may take; nil means no limit.
  ///   - work: makes the result from theirs.
  public convenience init<each Input: Sendable>(
    title: String, after inputs: repeat ResultOperation<each Input>, kind: String? = nil, key: String? = nil,
    reserving bytes: Int = 0, timeLimit: Duration? = nil, work: @escaping @Sendable (repeat each Input) throws -> Value
  ) {
    let needed = (repeat Dependency(on: each inputs))
    self.init(title: title, kind: kind, key: key, reserving: bytes, timeLimit: timeLimit) {
      try work(repeat (each needed).value)
    }
    repeat addDependency(each inputs, allowsFailure: false, readAs: each needed)
  }

  /// - Parameters:
  ///   - title: a one-line description of the work.
  ///   - inputs: the operations whose results the work needs. Submit them first.
  ///   - kind: a word for what it does; nil if no program needs it.
  ///   - key: what it shares with operations of which only some may run at once; nil if nothing.
  ///   - bytes: what is reserved of the queue's budget while the work runs.
  ///   - timeLimit: how long the work may take; nil means no limit.
  ///   - work: makes the result from theirs, in a task.
  public convenience init<each Input: Sendable>(
    title: String, after inputs: repeat ResultOperation<each Input>, kind: String? = nil, key: String? = nil,
    reserving bytes: Int = 0, timeLimit: Duration? = nil,
    work: @escaping @Sendable (repeat each Input) async throws -> Value
  ) {
    let needed = (repeat Dependency(on: each inputs))
    self.init(title: title, kind: kind, key: key, reserving: bytes, timeLimit: timeLimit) { () async throws -> Value in
      try await work(repeat (each needed).value)
    }
    repeat addDependency(each inputs, allowsFailure: false, readAs: each needed)
  }

  /// Makes the result. Override it unless the operation has a closure; never call it.
  open func makeResult() throws -> Value {
    guard case .onThread(let work) = content.withLock({ $0.work.take() }) else {
      preconditionFailure("\(type(of: self)) must override makeResult()")
    }
    return try work()
  }

  public final override func execute() throws {
    let value = try makeResult()
    content.withLock { $0.value = value }
  }

  final override func executeInTask() async throws {
    guard case .task(let work) = content.withLock({ $0.work.take() }) else {
      preconditionFailure("operation #\(id) has no task, or has begun twice")
    }
    let value = try await work()
    content.withLock { $0.value = value }
  }

  /// The result, as soon as there is one. The queue's counters and observers learn of the end a moment later.
  ///
  /// - Throws: the error with which the operation has failed; that of an operation which it depends on and which did not
  ///   succeed; ``OperationCancelledError`` if it was cancelled; or `CancellationError` when the task that waits is cancelled.
  ///   The operation goes on then.
  public final nonisolated(nonsending) var result: Value {
    get async throws {
      try await waitForEnd()
      return try ending.get()
    }
  }

  /// The result; nil until the operation has succeeded, and if it does not succeed.
  public final var value: Value? {
    guard case .succeeded = outcome else { return nil }
    return content.withLock { $0.value }
  }

  /// The result, or why there is none.
  var ending: Result<Value, any Error> {
    switch outcome {
    case .succeeded:
      guard let value = content.withLock({ $0.value }) else { preconditionFailure("operation #\(id) has no result") }
      return .success(value)
    case .failed(let error): return .failure(error)
    case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason):
      let failed = reason == .dependency ? state.withLock { $0.dependencies.failure } : nil
      return .failure(failed?.error ?? OperationCancelledError(reason: reason))
    case nil: preconditionFailure("operation #\(id) is read before it has ended")
    }
  }
}

/// The result of an operation that another one waits for, as the work of that one reads it. Made by
/// ``BoundedOperation/dependency(on:allowsFailure:)``.
///
/// *Concurrency*: its members may be called from any thread, in ``BoundedOperation/execute()`` of the dependant. They trap
/// at any other time: before, the result does not exist, and afterwards it has been released, so that a chain of a million
/// operations holds only those that have not ended.
public final class Dependency<Value: Sendable>: Sendable {
  private let operation: Locked<ResultOperation<Value>?>

  init(on operation: ResultOperation<Value>) { self.operation = Locked(operation) }

  /// How the operation has ended.
  public var outcome: Outcome {
    guard let outcome = read().outcome else { preconditionFailure("a dependency is read before it has ended") }
    return outcome
  }

  /// Its result.
  ///
  /// - Throws: the error with which it failed, or ``OperationCancelledError``. An operation that does not cope with
  ///   failures is cancelled instead, and never gets here.
  public var value: Value { get throws { try read().ending.get() } }

  private func read() -> ResultOperation<Value> {
    guard let operation = operation.withLock({ $0 }) else {
      preconditionFailure("a dependency is read after its dependant has ended")
    }
    return operation
  }
}

extension Dependency: ReleasableResult {
  func release() {
    // Outside the lock, because it may be the last reference: the program's own code then runs.
    let released = operation.withLock { $0.take() }
    withExtendedLifetime(released) {}
  }
}

/// A result that is released when its reader has ended.
protocol ReleasableResult: Sendable {
  func release()
}
