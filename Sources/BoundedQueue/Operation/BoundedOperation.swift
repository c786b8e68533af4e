import Foundation
import Locking
import Synchronization

/// One unit of work for a ``BoundedOperationQueue``. It can be observed and cancelled at any time, and ends exactly
/// once with an ``Outcome``, even if it never ran.
///
/// Subclass it and override ``execute()``. Call ``checkCancelled()`` often, and ``report(stage:)`` and
/// ``reportProgress(_:)`` to show progress. An operation runs once: create a new one to repeat the work.
///
/// ```swift
/// final class CopyOperation: BoundedOperation, @unchecked Sendable {
///   private let from: String
///   private let to: String
///
///   init(from: String, to: String) {
///     self.from = from
///     self.to = to
///     super.init(title: "copy \(from) → \(to)")
///   }
///
///   override func execute() throws {
///     report(stage: "copying")
///     try checkCancelled()
///     try FileManager.default.copyItem(atPath: from, toPath: to)
///   }
/// }
/// ```
///
/// *Concurrency*: every member may be called from any thread. ``execute()`` is called on one thread of the queue. Do
/// not use Foundation's `completionBlock`; observe the queue instead. On Linux the block is never released, and it runs
/// after waiters are woken (swift-corelibs-foundation, Operation.swift).
///
/// It says `nonisolated`, so that subclasses do not belong to the main actor in modules where everything else does.
nonisolated open class BoundedOperation: Operation, @unchecked Sendable {  // see each property for its guard
  /// A number that is unique within the process, and higher than those of all operations created before.
  public let id: Int
  /// A one-line description of the work for people, such as "thumbnail photos/a.jpg → 256x256".
  public let title: String
  /// What it does, in a word that all operations of its kind share, such as "thumbnail". Programs tell operations apart
  /// by it, because a title may have any words. Nil if the operation has not said.
  public let kind: String?
  /// What it works on, such as "photos/a.jpg"; nil if the operation has not said.
  public let subject: String?

  /// What it shares with other operations of which only some may run at once (``QueueLimits/perKey``), such as a host or a user;
  /// nil if nothing.
  public let key: String?

  /// The bytes of the budget that are reserved while it has a place; 0 if its work reserves what it needs.
  let announcedBytes: Int
  /// How long the work may take; nil means no limit.
  private let timeLimit: Duration?
  /// Whether the work needs a thread. If not, it is a task.
  let takesThread: Bool
  /// Guards the operation's changing state, except for progress and reserved bytes, which are atomic.
  let state = Locked(OperationState())

  /// True from the first request to cancel. It is set under the lock of `state` and read without it.
  private let cancelRequested = Atomic(false)
  /// Progress in millionths; negative while unknown.
  private let progress = Atomic(-1)
  private let reserved = Atomic(0)

  private static let lastID = Atomic(0)

  /// - Parameters:
  ///   - title: a one-line description of the work, for people.
  ///   - kind: a word for what it does; nil if no program needs it.
  ///   - subject: what it works on; nil if no program needs it.
  ///   - key: what it shares with operations of which only ``QueueLimits/perKey`` may run at once; nil if nothing.
  ///   - bytes: what is reserved of the queue's ``QueueLimits/budget`` from the start of the work to its end. The operation
  ///     starts only when they are free, so it waits for them without a place. More than 1 PiB is treated as 1 PiB. With 0,
  ///     the work may reserve what it needs (``withReservation(of:_:)``).
  ///   - timeLimit: how long the work may take from its start. Then the operation is cancelled with the reason
  ///     ``CancelReason/timeout``, and ends at its next check for cancellation. Nil means no limit.
  public init(
    title: String, kind: String? = nil, subject: String? = nil, key: String? = nil, reserving bytes: Int = 0,
    timeLimit: Duration? = nil
  ) {
    id = Self.nextID()
    (self.title, self.kind, self.subject, self.key) = (title, kind, subject, key)
    (self.timeLimit, takesThread) = (timeLimit, true)
    announcedBytes = Self.bounded(bytes)
  }

  /// - Parameter takesThread: whether the work needs a thread.
  init(
    title: String, kind: String? = nil, subject: String? = nil, key: String? = nil, reserving bytes: Int = 0,
    timeLimit: Duration? = nil, takesThread: Bool
  ) {
    id = Self.nextID()
    (self.title, self.kind, self.subject, self.key) = (title, kind, subject, key)
    (self.timeLimit, self.takesThread) = (timeLimit, takesThread)
    announcedBytes = Self.bounded(bytes)
  }

  /// So many bytes, but no more than sums can have without overflowing.
  private static func bounded(_ bytes: Int) -> Int {
    precondition(bytes >= 0, "an operation reserves \(bytes) bytes")
    return Swift.min(bytes, 1 << 50)
  }

  private static func nextID() -> Int { lastID.add(1, ordering: .relaxed).newValue }

  /// Releases a chain of operations that were never accepted in a loop, because each would otherwise release the next
  /// one within its own deinitialiser.
  deinit {
    var ahead = unlink()
    while var next = ahead.popLast() {
      if isKnownUniquelyReferenced(&next) { ahead += next.unlink() }
    }
  }

  /// Releases what it waits for.
  private func unlink() -> [BoundedOperation] {
    let released = state.withLock { $0.dependencies.end() }
    for result in released.results { result.release() }
    return released.unfinished.compactMap { $0 as? BoundedOperation }
  }

  // MARK: For subclasses

  /// Does the work. Override it; never call it.
  ///
  /// If it returns, the operation has succeeded. If it throws, the operation ends as cancelled if its cancellation was
  /// requested before, and as failed otherwise.
  open func execute() throws {
    preconditionFailure("\(type(of: self)) must override execute()")
  }

  /// Throws if the operation has been cancelled. Costs one atomic load, so call it for each row or block.
  ///
  /// - Throws: ``OperationCancelledError``
  public final func checkCancelled() throws(OperationCancelledError) {
    guard isCancelled else { return }
    throw OperationCancelledError(reason: state.withLock { $0.cancelReason ?? .user })
  }

  /// Starts a stage of the work and notifies the observers; `stage` is a word for people, such as "decoding".
  public final func report(stage: String) {
    guard state.withLock({ $0.enter(stage) }) else { return }
    post(.stage(stage))
  }

  /// Sets the progress, from 0 to 1. Costs one atomic store. Snapshots show the progress; observers are not notified.
  public final func reportProgress(_ fraction: Double) {
    progress.store(fraction.isNaN ? -1 : Int(Swift.min(Swift.max(fraction, 0), 1) * 1_000_000), ordering: .relaxed)
  }

  /// The progress, 0 while it is unknown.
  final var fraction: Double { Double(Swift.max(0, progress.load(ordering: .relaxed))) / 1_000_000 }

  /// Runs `body` with `bytes` of the queue's ``QueueLimits/budget`` reserved.
  ///
  /// Waits until the bytes are free; operations are served in the order of their requests. An operation has at most one
  /// reservation, because with two it could wait for itself. An operation outside a queue never waits. More than 1 PiB
  /// is treated as 1 PiB.
  ///
  /// *Concurrency*: call it only in ``execute()``, on the thread of that method. The thread blocks while it waits.
  ///
  /// - Throws: ``BudgetExceededError`` if one operation may not reserve so much, ``OperationCancelledError`` if the
  ///   operation was cancelled while it waited, and any error of `body`.
  public final func withReservation<Result>(of bytes: Int, _ body: () throws -> Result) throws -> Result {
    precondition(announcedBytes == 0, "operation #\(id) has announced what it reserves")
    precondition(reserved.load(ordering: .relaxed) == 0, "operation #\(id) has a reservation already")
    guard let queue = state.withLock({ $0.queue }) else { return try body() }
    let bytes = Self.bounded(bytes)
    try queue.reserve(bytes, for: self)
    reserved.store(bytes, ordering: .relaxed)
    defer {
      reserved.store(0, ordering: .relaxed)
      queue.giveBack(bytes)
    }
    return try body()
  }

  // MARK: Dependencies

  /// Makes the operation wait until another one has ended. If that one does not succeed, this one is cancelled with the
  /// reason ``CancelReason/dependency``.
  ///
  /// While it waits it takes no running place, but one in the backlog of its queue. The other operation may belong to
  /// another queue, and be any `Operation`; one that is cancelled counts as not successful. A ``BoundedOperation`` must
  /// have been submitted before its dependant, so that dependencies have no cycle and cannot fill a queue for ever.
  ///
  /// Add dependencies before the operation is submitted; it traps afterwards. Only a bounded queue waits for them:
  /// started in another way, the operation traps while one of them has not ended.
  public final override func addDependency(_ operation: Operation) { addDependency(operation, allowsFailure: false) }

  /// Removes a dependency. It traps once the operation is submitted.
  public final override func removeDependency(_ operation: Operation) {
    state.withLock { state in
      precondition(state.isNew, "operation #\(id) loses a dependency after its submission")
      state.dependencies.remove(operation)
    }
  }

  /// The operations that this one still waits for. Those that have ended are released.
  public final override var dependencies: [Operation] { state.withLock { $0.dependencies.operations } }

  // MARK: Inspection and cancellation

  /// True from the first request to cancel, even if the request came too late to stop the work. A request after the end
  /// of the operation does not count.
  public final override var isCancelled: Bool { cancelRequested.load(ordering: .acquiring) }

  /// How the operation ended; nil until then.
  public final var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Asks the operation to stop. A waiting operation ends at once without running. A running one ends when its work
  /// next checks ``isCancelled``. The first reason is kept.
  ///
  /// - Returns: false if the operation had already ended.
  @discardableResult
  public final func cancel(reason: CancelReason) -> Bool {
    let (accepted, queue) = markCancelled(reason)
    queue?.withdraw(self)
    return accepted
  }

  /// Cancels the operation with the reason ``CancelReason/user``.
  public final override func cancel() { cancel(reason: .user) }

  /// The current state of the operation.
  public final func snapshot() -> OperationSnapshot {
    let (copy, queue) = state.withLock { ($0.withoutEvents(), $0.queue) }
    let hasBegun = if case .running = copy.phase { true } else { false }
    let millionths = progress.load(ordering: .relaxed)
    let held = hasBegun ? announcedBytes + reserved.load(ordering: .relaxed) : 0
    return OperationSnapshot(
      id: id, title: title, kind: kind, subject: subject, state: copy,
      fraction: millionths < 0 ? nil : Double(millionths) / 1_000_000, bytesReserved: held,
      waitReason: copy.outcome == nil ? queue?.waitReason(self, hasBegun: hasBegun) : nil)
  }

  /// The snapshot as one line: id, title and state.
  public final override var description: String { snapshot().description }

  // MARK: Foundation's life cycle

  /// Called by Foundation's operation queue or on a thread of the queue, for cancelled operations too.
  public final override func start() {
    let queue = state.withLock { state in
      precondition(
        takesThread, "start() called on operation #\(id), whose work is a task: submit it to a bounded queue")
      precondition(!state.isQueued, "start() called on operation #\(id), which waits for its turn in a queue")
      let isReady = state.queue != nil || state.dependencies.operations.allSatisfy(\.isFinished)
      precondition(isReady, "start() called on operation #\(id), which waits for others: submit it to a bounded queue")
      return state.queue
    }
    CurrentQueue.with(queue) {
      runToEnd()
      if let queue { queue.finished(self) } else { endDependencies() }
    }
  }

  /// Called by Foundation, after the work.
  public final override func main() {}

  /// Whether the work has begun and not ended.
  public final override var isExecuting: Bool {
    state.withLock { if case .running = $0.phase { true } else { false } }
  }

  // MARK: Work that is a task

  /// Does the work of an operation that takes no thread.
  func executeInTask() async throws {
    preconditionFailure("\(type(of: self)) must override executeInTask()")
  }

  /// Makes the task of an operation that takes no thread. It waits for its turn. Called when the operation joins a queue, in the
  /// task of its producer.
  final func makeTask() {
    if takesThread { return }
    let number = state.withLock { $0.turn.number }
    let task = Task { if await turnComes(number) { await runTaskToEnd() } }
    state.withLock { $0.turn.task = task }
  }

  private func turnComes(_ number: Int) async -> Bool {
    await withUnsafeContinuation { continuation in
      if let given = state.withLock({ $0.turn.wait(number, continuation) }) { continuation.resume(returning: given) }
    }
  }

  /// Lets the task begin, or ends it without work. Only the first time counts.
  final func giveTurn(_ mayWork: Bool) {
    if takesThread { return }
    state.withLock { $0.turn.give(mayWork) }?.resume(returning: mayWork)
  }

  private func runTaskToEnd() async {
    let (begun, queue) = state.withLock { ($0.begin(), $0.queue) }
    if begun {
      beginWork(queue)
      let outcome: Outcome
      do {
        try await CurrentQueue.with(queue) { try await inSpan(of: queue) { try await executeInTask() } }
        outcome = .succeeded
      } catch {
        outcome = self.outcome(after: error)
      }
      end(outcome)
    } else if let reason = state.withLock({ $0.reasonToEndUnstarted() }) {
      end(.cancelledWhileWaiting(reason))
    }
    finish()
    queue?.finished(self)
  }

  private func beginWork(_ queue: BoundedOperationQueue?) {
    queue?.began(self)
    post(.started)
    guard let timeLimit else { return }
    let clock = queue?.clock ?? ContinuousClock()
    let timer = Task.detached { [weak self] in
      do { try await clock.sleep(for: timeLimit) } catch { return }
      self?.cancel(reason: .timeout)
    }
    state.withLock { $0.timer = timer }
  }

  private func outcome(after error: any Error) -> Outcome {
    state.withLock { $0.cancelReason }.map { .cancelledWhileRunning($0) } ?? .failed(error)
  }

  /// Sets the outcome, and then lets Foundation finish the operation. So `waitUntilFinished` and dependants in an
  /// `OperationQueue` find the outcome.
  func runToEnd() {
    let (begun, queue) = state.withLock { ($0.begin(), $0.queue) }
    if begun {
      beginWork(queue)
      end(work(for: queue))
    } else if let reason = state.withLock({ $0.reasonToEndUnstarted() }) {
      end(.cancelledWhileWaiting(reason))
    } else {
      // Another thread has started it.
      return
    }
    finish()
  }

  /// Has Foundation end the operation, and then resumes the tasks that wait.
  private func finish() {
    super.start()
    for waiter in state.withLock({ $0.finish() }) { waiter.resume(with: .success(())) }
  }

  private func work(for queue: BoundedOperationQueue?) -> Outcome {
    do {
      try inSpan(of: queue) { try CurrentOperation.with(id, title) { try execute() } }
      return .succeeded
    } catch {
      return outcome(after: error)
    }
  }

  /// Releases what it has waited for, and notifies those that wait for it.
  private func endDependencies() { EndNotification.carryOut(state.withLock { $0.dependencies.end() }, of: self) }

  /// Records the request to cancel; the caller then takes the operation out of its queue's waiting line.
  func markCancelled(_ reason: CancelReason) -> (accepted: Bool, queue: BoundedOperationQueue?) {
    let result = state.withLock { state in
      guard state.outcome == nil else { return (accepted: false, queue: state.queue) }
      state.alarm?.signal()
      state.cancelReason = state.cancelReason ?? reason
      // Set under the lock, so that a queue that the operation joins later sees the request.
      cancelRequested.store(true, ordering: .releasing)
      return (accepted: true, queue: state.queue)
    }
    super.cancel()
    if result.accepted, !takesThread { state.withLock { $0.turn.task }?.cancel() }
    return result
  }

  private func end(_ outcome: Outcome) {
    let (ended, timer) = state.withLock { ($0.end(outcome), $0.timer.take()) }
    timer?.cancel()
    precondition(ended, "operation #\(id) ended twice")
  }
}
