import Foundation
import Locking

#if TracingSupport
import Tracing
#endif

/// A queue that limits how many operations run and how many wait. A producer that submits to a full queue waits for a free place,
/// so pending work does not pile up in memory.
///
/// Operations start in the order of their submission, unless they depend on others, wait for others of their key, or have a
/// `queuePriority`. That counts when the operation is submitted. One of `high` starts before those of `normal` that came at most
/// 100 submissions earlier, and one of `veryHigh` before those at most 1000 earlier; `low` and `veryLow` are the same the other way
/// round. So none waits for ever.
///
/// At any moment a caller can read the queue's state (``counters``, ``snapshot(waitingLimit:waitingAfter:)``), observe
/// it (``observe(_:)``), pause it, cancel one operation or all of them, and change the limits.
///
/// A third limit, ``QueueLimits/budget``, applies to the bytes that running operations reserve
/// (``BoundedOperation/withReservation(of:_:)``).
///
/// ```swift
/// let queue = BoundedOperationQueue(name: "copies", maxConcurrentOperations: 4)
/// let observation = queue.observe { event in
///   if case .ended(let outcome) = event.change { print(event.operation.title, outcome) }
/// }
/// for name in names {
///   try queue.submitBlocking(CopyOperation(from: name, to: "/backup/" + name))  // waits while 4 run and 16 wait
/// }
/// queue.close()
/// queue.drainBlocking()
/// observation.cancel()
/// ```
///
/// *Concurrency*: every member may be called from any thread. One lock, held briefly, guards the queue's account of its
/// operations. Foundation's `OperationQueue`s, and beyond 64 operations threads, only execute those that hold one of the
/// ``QueueLimits/maxConcurrentOperations`` places.
/// The queue never reads their operation lists, because that costs O(n) under their locks (swift-corelibs-foundation,
/// Operation.swift).
///
/// An operation keeps its queue alive until it has ended, so an unreferenced queue still finishes its work. An
/// unreferenced queue that is paused and has waiting operations would stay in memory for ever: cancel them first.
public final class BoundedOperationQueue: Sendable {
  public let name: String

  /// Guards all state of the queue. Held briefly; the only foreign code called under it is the closure of
  /// ``changeLimits(_:)``.
  let account: Locked<Account>
  let observers = ObserverList()
  /// Executes the operations that hold a place.
  private let lanes: Lanes
  /// Measures the time limits of operations and of a drain, and the delays before work is tried again.
  let clock: any Clock<Duration>
  #if TracingSupport
  /// Nil if operations are not traced. Guarded by its lock.
  let tracer = Locked<(any Tracer)?>(nil)
  #endif

  /// - Parameters:
  ///   - name: the queue's name, for messages.
  ///   - maxConcurrentOperations: the most operations that run at once, at least 1.
  ///   - backlog: the most accepted operations that wait, at least 0; default: 4 × `maxConcurrentOperations`.
  ///   - budget: the bytes that running operations may reserve; nil means no limit.
  ///   - perKey: the most operations with the same key that run at once; nil means no limit.
  ///   - qos: the quality of service of the threads, on systems that have one.
  ///   - clock: measures the time limits of operations and of a drain, and the delays before work is tried again.
  public init(
    name: String, maxConcurrentOperations: Int, backlog: Int? = nil, budget: MemoryBudget? = nil,
    perKey: Int? = nil, qos: DispatchQoS = .utility, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.name = name
    account = Locked(
      Account(
        limits: QueueLimits(
          maxConcurrentOperations: maxConcurrentOperations, backlog: backlog ?? 4 * maxConcurrentOperations,
          budget: budget, perKey: perKey)))
    self.clock = clock
    lanes = Lanes(name: name, qos: qos)
  }

  // MARK: Inspection

  /// The current counters, in O(1).
  public var counters: QueueCounters { account.withLock { $0.counters } }

  /// How far the operations are that the queue has accepted so far, in O(running).
  public var progress: QueueProgress {
    let (counters, running) = account.withLock { ($0.counters, $0.running) }
    return QueueProgress(
      submitted: counters.submitted, ended: counters.ended,
      done: running.reduce(Double(counters.ended)) { $0 + $1.fraction })
  }

  /// The current limits.
  public var limits: QueueLimits { account.withLock { $0.limits } }

  /// The largest value that each limit has had. ``QueueCounters/peakRunning`` and ``QueueCounters/peakWaiting`` stay
  /// within it.
  public var widestLimits: QueueLimits { account.withLock { $0.widestLimits } }

  /// Changes the limits at once. With higher limits, waiting operations start and blocked producers are accepted. With
  /// lower limits, running operations continue, and nothing new starts until there is room.
  ///
  /// - Parameter change: called under the queue's lock, so that concurrent changes are not lost. It must not call the
  ///   queue.
  public func changeLimits(_ change: (inout QueueLimits) -> Void) {
    carryOut(
      account.withLock { account in
        var limits = account.limits
        change(&limits)
        return account.setLimits(limits)
      })
  }

  /// The current state of the queue: counters, limits, and the running and waiting operations. Those that wait are in the order
  /// of their creation, so that one page of them follows the other whatever starts meanwhile. Mostly that is the order in which
  /// they start; it is not if they were submitted in another order, or depend on others.
  ///
  /// The lists are copied together under one lock, in O(running + waiting) at most; without an id, a low `waitingLimit`
  /// makes it faster. Where the orders differ, the waiting ones are also sorted by id, in O(n log n). Each
  /// operation's snapshot is taken afterwards, so an operation in `running` may have ended in between; its state then
  /// shows this.
  ///
  /// - Parameters:
  ///   - waitingLimit: the most waiting operations to list.
  ///   - id: only waiting operations with a higher id are listed; for the next page, pass the last id of the previous
  ///     one.
  public func snapshot(waitingLimit: Int = .max, waitingAfter id: Int = 0) -> QueueSnapshot {
    let (counters, limits, pauses, isClosed, members) = account.withLock {
      ($0.counters, $0.limits, $0.pauses, $0.isClosed, $0.operations(waitingLimit: waitingLimit, waitingAfter: id))
    }
    return QueueSnapshot(
      name: name, counters: counters, limits: limits, pauses: pauses, isClosed: isClosed,
      running: members.running.map { $0.snapshot() }, waiting: members.waiting.map { $0.snapshot() })
  }

  /// The current state of one operation; nil if no operation with this id waits or runs.
  ///
  /// *Complexity*: O(running + log waiting).
  public func snapshot(of id: Int) -> OperationSnapshot? { account.withLock { $0.operation(id: id) }?.snapshot() }

  /// Calls `body` for every change of every operation, until the observation is cancelled.
  ///
  /// *Concurrency*: called without any lock held, on the thread that made the change, or on a thread that was already
  /// delivering an event of the same operation. Events of one operation arrive in order and never concurrently; events
  /// of different operations may arrive concurrently. An operation keeps its place until its observers have received
  /// its end, so a slow observer slows the queue instead of letting events pile up. An observer may inspect, pause,
  /// resume and cancel. The queue keeps `body`, so a closure that refers to the queue must hold it weakly; otherwise neither is
  /// ever released. It must neither submit to the queue, which throws an error, nor drain it, which traps. It must not
  /// wait for another queue either, because that may wait for this end: use ``trySubmit(_:)`` there. The same holds for
  /// operations: those of two full queues that submit to each other would wait for ever.
  @discardableResult
  public func observe(_ body: @escaping @Sendable (QueueEvent) -> Void) -> QueueObservation { observers.add(body) }

  /// The changes of all operations from now on, as a sequence. It ends with the task that reads it, never with the queue.
  ///
  /// A reader that is slower than the queue does not slow it, as an observer does: beyond the buffer, the oldest events are
  /// lost.
  ///
  /// - Parameter newest: the most events that wait for the reader.
  public func events(bufferingNewest newest: Int = 1024) -> AsyncStream<QueueEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(newest)) { continuation in
      let observation = observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }

  // MARK: Control

  /// Starts no operation and grants no memory until ``resume(_:)`` is called for the same reason. Running operations
  /// continue, and producers can still fill the backlog.
  public func pause(_ reason: PauseReason = .user) { carryOut(account.withLock { $0.pause(reason) }) }

  /// Ends a pause for this reason. The queue stays paused while another reason remains.
  public func resume(_ reason: PauseReason = .user) { carryOut(account.withLock { $0.resume(reason) }) }

  /// Cancels one operation.
  ///
  /// - Returns: false if no operation with this id waits or runs.
  @discardableResult
  public func cancel(id: Int, reason: CancelReason) -> Bool {
    account.withLock { $0.operation(id: id) }?.cancel(reason: reason) ?? false
  }

  /// Cancels all waiting and running operations. Blocked producers get ``SubmitError/cancelled(_:)``. The queue stays
  /// open for later submissions.
  ///
  /// Waiting operations have ended when this returns. Running operations end at their next check for cancellation.
  ///
  /// - Returns: the cancelled operations.
  @discardableResult
  public func cancelAll(reason: CancelReason) -> CancelledOperations {
    cancelAll(reason: reason, closing: false, sparingRunning: false)
  }

  /// Does ``cancelAll(reason:)`` and ``close()`` in one step, so that no operation is accepted in between.
  ///
  /// - Parameters:
  ///   - reason: why the operations are cancelled.
  ///   - sparingRunning: true lets running operations finish, except those that wait for memory while the queue is paused by
  ///     the user: they would wait until a resume. They are cancelled.
  @discardableResult
  public func stop(reason: CancelReason, sparingRunning: Bool = false) -> CancelledOperations {
    cancelAll(reason: reason, closing: true, sparingRunning: sparingRunning)
  }

  /// Accepts no more operations. Waiting operations still run; blocked producers get ``SubmitError/closed``.
  public func close() { carryOut(account.withLock { $0.close() }) }

  private func cancelAll(reason: CancelReason, closing: Bool, sparingRunning: Bool) -> CancelledOperations {
    let (running, effects) = account.withLock { account in
      (account.operations(waitingLimit: 0).running, account.withdrawAll(reason, closing: closing))
    }
    for operation in effects.withdrawn { _ = operation.markCancelled(reason) }
    let turnedAway = effects.answered.compactMap { claim, answer -> BoundedOperation? in
      if case .turnedAway = answer { claim.operation } else { nil }
    }
    let stopping = (sparingRunning ? turnedAway : running).filter { $0.markCancelled(reason).accepted }
    carryOut(effects)
    // All are marked first, so that no cancelled operation is granted the memory that another one frees.
    for operation in stopping { withdraw(operation) }
    return CancelledOperations(waiting: effects.withdrawn, running: stopping)
  }

  // MARK: Effects

  /// Frees the place of an operation whose end has been delivered.
  func departed(_ operation: BoundedOperation) { carryOut(depart(operation)) }

  /// Notifies the dependants before the place is free: the next operation would have to wait for this thread, which is that
  /// of the place.
  private func depart(_ operation: BoundedOperation) -> Account.Effects {
    let (released, outcome) = operation.state.withLock { ($0.depart(), $0.outcome) }
    guard let outcome else { preconditionFailure("operation #\(operation.id) departs before it has ended") }
    EndNotification.carryOut(released, of: operation)
    return account.withLock { $0.depart(operation, outcome: outcome) }
  }

  /// Carries out the effects that the account decided on under the lock, and the effects that follow from them. It
  /// loops instead of calling itself, because the end of an operation may be delivered here, and freeing its place has
  /// effects again.
  func carryOut(_ first: Account.Effects) {
    var next: Account.Effects? = first
    while let effects = next.take() {
      for (operation, lane) in effects.started {
        operation.state.withLock { $0.isQueued = false }
        if operation.takesThread { lanes.execute(operation, in: lane) } else { operation.giveTurn(true) }
      }
      for (producer, result) in effects.released {
        switch result {
        case .success: _ = producer.operation.state.withLock { $0.accept() }  // its dependants may follow at once
        case .failure: leave(producer.operation)
        }
        producer.release(result)
      }
      for (claim, answer) in effects.answered { claim.answer(answer) }
      guard !effects.accepted.isEmpty || !effects.withdrawn.isEmpty || !effects.drained.isEmpty else { return }
      var departed: [BoundedOperation] = []
      CurrentQueue.with(self) {
        for operation in effects.accepted where operation.deliverAccepted(to: self) { departed.append(operation) }
        for operation in effects.withdrawn {
          operation.state.withLock { $0.isQueued = false }
          operation.giveTurn(false)
          operation.runToEnd()
          if operation.deliverEnd(to: self) { departed.append(operation) }
        }
      }
      for wake in effects.drained { wake() }
      for operation in departed {
        let later = depart(operation)
        if next == nil { next = later } else { next?.append(later) }
      }
    }
  }
}
