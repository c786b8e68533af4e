import Foundation
import Locking

/// A queue of operations that never piles up: a bound on how many run and a bound on how many wait. Whoever submits to
/// a full queue waits until a place is free, so the work to come stays where it is cheap: with its producer.
///
/// At any moment it can be looked into (``counters``, ``snapshot(waitingLimit:)``), observed (``observe(_:)``), paused,
/// cancelled in one or in all, and its bounds changed. It runs first in, first out.
///
/// A third bound, ``QueueLimits/budget``, is on the bytes that running operations reserve for themselves
/// (``BoundedOperation/withReservation(of:_:)``).
///
/// ```swift
/// let queue = BoundedOperationQueue(name: "copies", max: 4)
/// let observation = queue.observe { event in
///   if case .ended(let outcome) = event.change { print(event.operation.title, outcome) }
/// }
/// for name in names {
///   try queue.submit(CopyOperation(from: name, to: "/backup/" + name))  // waits while 4 run and 16 wait
/// }
/// queue.close()
/// queue.drain()
/// observation.cancel()
/// ```
///
/// *Concurrency*: every member may be called from any thread. One short lock guards the queue's own account of its
/// operations. Foundation's `OperationQueue`s beneath only execute what has been given one of the ``QueueLimits/max``
/// places; their own lists are never asked for, which would cost O(n) under their locks (swift-corelibs-foundation,
/// Operation.swift).
///
/// An operation keeps its queue alive until it has ended. So a queue that nobody refers to any more still finishes; one
/// that is paused then would stay for ever: close or cancel it first.
public final class BoundedOperationQueue: Sendable {
  public let name: String

  /// Guards everything the queue knows. Held for a few dozen instructions, never while anything of others is called.
  private let account: Locked<Account>
  let observers = ObserverList()
  /// Executes what has a place.
  private let lanes: Lanes

  /// - Parameters:
  ///   - name: for people: the name of the queue.
  ///   - max: operations running at once, at least 1.
  ///   - backlog: operations accepted and waiting, at least 0; 4 × `max` if not given.
  ///   - budget: bytes that running operations may reserve; nil for as many as they like.
  ///   - qos: how urgent the operations are to the system, on systems that ask.
  public init(
    name: String, max: Int, backlog: Int? = nil, budget: MemoryBudget? = nil, qos: DispatchQoS = .utility
  ) {
    self.name = name
    account = Locked(Account(limits: QueueLimits(max: max, backlog: backlog ?? 4 * max, budget: budget)))
    lanes = Lanes(name: name, qos: qos)
  }

  // MARK: Submitting

  /// Hands an operation to the queue, and waits for a place in the backlog if there is none.
  ///
  /// Producers are served in the order in which they came. One that waits wakes when a place frees, and when the queue is
  /// closed or cancelled.
  ///
  /// - Throws: ``SubmitError``; the operation was not accepted then.
  @available(*, noasync, message: "use the async form, which suspends instead of blocking a thread")
  public func submit(_ operation: BoundedOperation) throws(SubmitError) {
    let answer = Locked<Result<Void, SubmitError>?>(nil)  // written before the signal, read after it
    let wake = DispatchSemaphore(value: 0)
    let admission = try admit(
      operation,
      orBlock: { result in
        answer.withLock { $0 = result }
        wake.signal()
      })
    guard case .blocked = admission else { return }
    wake.wait()
    if case .failure(let error) = answer.withLock({ $0 }) { throw error }
  }

  /// Hands an operation to the queue, and suspends until there is a place in the backlog.
  ///
  /// - Throws: ``SubmitError``, or `CancellationError` when the task is cancelled before the operation is accepted.
  public func submit(_ operation: BoundedOperation) async throws {
    try Task.checkCancellation()
    let producer = SuspendedProducer()
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        producer.suspend(continuation)
        do {
          switch try admit(operation, orBlock: { producer.resume(with: $0.mapError { $0 }) }) {
          case .blocked(let ticket): producer.ticket = ticket
          case .accepted, .full, .refused: producer.resume(with: .success(()))
          }
        } catch {
          producer.resume(with: .failure(error))
        }
        // A task cancelled before this moment found nothing to take out of the line.
        if Task.isCancelled { withdraw(producer, of: operation) }
      }
    } onCancel: {
      withdraw(producer, of: operation)
    }
  }

  /// Hands an operation to the queue if there is room at once; never waits.
  ///
  /// - Returns: false when there is no room, or producers wait already; the operation is untouched then.
  /// - Throws: ``SubmitError``; the operation was not accepted then.
  public func submitIfRoom(_ operation: BoundedOperation) throws(SubmitError) -> Bool {
    if case .accepted = try admit(operation, orBlock: nil) { true } else { false }
  }

  /// - Returns: accepted; or blocked, and `release` is called later, from any thread; or, without it, full.
  private func admit(
    _ operation: BoundedOperation, orBlock release: (@Sendable (Result<Void, SubmitError>) -> Void)?
  ) throws(SubmitError) -> Account.Admission {
    guard !CurrentQueue.isCurrent(self) else { throw .fromOwnWorker }
    guard operation.dependencies.isEmpty else { throw .hasDependencies }
    let joined = operation.state.withLock { $0.join(self, at: .now) }
    guard joined else { throw .alreadySubmitted }
    let (admission, effects) = account.withLock { $0.admit(operation, orBlock: release) }
    switch admission {
    case .accepted: carryOut(effects)
    case .blocked: break
    case .full: operation.state.withLock { $0.leave() }
    case .refused(let error):
      operation.state.withLock { $0.leave() }
      throw error
    }
    return admission
  }

  private func withdraw(_ producer: SuspendedProducer, of operation: BoundedOperation) {
    guard let ticket = producer.ticket else { return }
    let (withdrawn, effects) = account.withLock { $0.withdrawProducer(ticket) }
    if withdrawn {
      operation.state.withLock { $0.leave() }
      producer.resume(with: .failure(CancellationError()))
    }
    carryOut(effects)
  }

  // MARK: Looking

  /// The numbers at this moment, in O(1).
  public var counters: QueueCounters { account.withLock { $0.counters } }

  /// The bounds in force.
  public var limits: QueueLimits { account.withLock { $0.limits } }

  /// The widest that each bound has ever been: what the peaks of ``counters`` have kept within.
  public var widestLimits: QueueLimits { account.withLock { $0.widestLimits } }

  /// Changes the bounds, at once: wider, what waits starts and blocked producers come in; narrower, nothing is stopped and
  /// nothing new begins until there is room.
  ///
  /// - Parameter change: called under the queue's lock, so that what somebody else changes meanwhile is not undone. It must
  ///   not ask the queue anything.
  public func changeLimits(_ change: (inout QueueLimits) -> Void) {
    carryOut(
      account.withLock { account in
        var limits = account.limits
        change(&limits)
        return account.setLimits(limits)
      })
  }

  /// The queue at this moment: numbers, bounds, and the operations running and waiting in the order of the line.
  ///
  /// Membership is taken together under one lock, O(running + limit); each operation is looked at afterwards, so one
  /// listed as running may have ended since and says so.
  ///
  /// - Parameters:
  ///   - waitingLimit: list at most this many of those that wait.
  ///   - id: of those that wait, leave out all up to this number: the last of an earlier snapshot.
  public func snapshot(waitingLimit: Int = .max, waitingAfter id: Int = 0) -> QueueSnapshot {
    let (counters, limits, pauses, isClosed, members) = account.withLock {
      ($0.counters, $0.limits, $0.pauses, $0.isClosed, $0.operations(waitingLimit: waitingLimit, waitingAfter: id))
    }
    return QueueSnapshot(
      name: name, counters: counters, limits: limits, pauses: pauses, isClosed: isClosed,
      running: members.running.map { $0.snapshot() }, waiting: members.waiting.map { $0.snapshot() })
  }

  /// One operation at this moment, by number; nil when none of this number waits or runs.
  ///
  /// *Complexity*: O(running + log waiting).
  public func snapshot(of id: Int) -> OperationSnapshot? { account.withLock { $0.operation(id: id) }?.snapshot() }

  /// Calls `body` on every change of every operation, until the observation is cancelled.
  ///
  /// *Concurrency*: called outside every lock, from whichever thread made the change, for one operation in order and never
  /// twice at once; for different operations at the same time. An operation keeps its place until its observers have
  /// heard how it ended, so a slow observer slows the queue instead of letting events pile up. An observer may look,
  /// steer and cancel; it may not submit to the queue (refused) nor drain it.
  @discardableResult
  public func observe(_ body: @escaping @Sendable (QueueEvent) -> Void) -> QueueObservation { observers.add(body) }

  // MARK: Steering

  /// Starts nothing more, and gives no memory to what runs and waits for it, until ``resume(_:)`` for the same reason.
  /// What runs goes on otherwise; producers may still fill the backlog.
  public func pause(_ reason: PauseReason = .user) { account.withLock { $0.pause(reason) } }

  /// Goes on after ``pause(_:)``, unless there is another reason not to.
  public func resume(_ reason: PauseReason = .user) { carryOut(account.withLock { $0.resume(reason) }) }

  /// Cancels one operation, by number.
  ///
  /// - Returns: false when none of this number waits or runs.
  @discardableResult
  public func cancel(id: Int, reason: CancelReason) -> Bool {
    account.withLock { $0.operation(id: id) }?.cancel(reason: reason) ?? false
  }

  /// Cancels everything that waits and runs, and turns blocked producers away with ``SubmitError/cancelled(_:)``. The
  /// queue stays open for what is submitted later.
  ///
  /// Those that wait have ended when this returns; those that run end when their work next looks.
  ///
  /// - Returns: what was cancelled.
  @discardableResult
  public func cancelAll(reason: CancelReason) -> CancelledOperations {
    cancelAll(reason: reason, closing: false, sparingRunning: false)
  }

  /// ``cancelAll(reason:)`` and ``close()`` in one step: nothing can slip in between.
  ///
  /// - Parameter sparingRunning: let what runs go on to its end.
  @discardableResult
  public func stop(reason: CancelReason, sparingRunning: Bool = false) -> CancelledOperations {
    cancelAll(reason: reason, closing: true, sparingRunning: sparingRunning)
  }

  /// Accepts nothing more. What waits still runs; blocked producers are turned away with ``SubmitError/closed``.
  public func close() { carryOut(account.withLock { $0.close() }) }

  /// Waits until nothing waits, nothing runs, no producer is blocked, and every observer has heard of every end.
  ///
  /// On a paused queue with operations waiting that is not before somebody resumes or cancels.
  @available(*, noasync, message: "use the async form, which suspends instead of blocking a thread")
  public func drain() {
    let wake = DispatchSemaphore(value: 0)
    whenIdle { wake.signal() }
    wake.wait()
  }

  /// ``drain()``, suspending the task instead of blocking the thread.
  public func drain() async {
    await withUnsafeContinuation { continuation in whenIdle { continuation.resume() } }
  }

  private func whenIdle(_ wake: @escaping @Sendable () -> Void) {
    precondition(
      !CurrentQueue.isCurrent(self),
      "an operation or observer of queue \(name) may not drain it: it would wait for itself")
    carryOut(account.withLock { $0.whenIdle(wake) })
  }

  private func cancelAll(reason: CancelReason, closing: Bool, sparingRunning: Bool) -> CancelledOperations {
    let (running, effects) = account.withLock { account in
      (account.operations(waitingLimit: 0).running, account.withdrawAll(reason, closing: closing))
    }
    for operation in effects.withdrawn { _ = operation.markCancelled(reason) }
    let stopping = sparingRunning ? [] : running.filter { $0.markCancelled(reason).accepted }
    carryOut(effects)
    // All were marked before: none gets the memory that another, cancelled before it, has left.
    for operation in stopping { withdraw(operation) }
    return CancelledOperations(waiting: effects.withdrawn, running: stopping)
  }

  // MARK: For operations

  func waitReason(_ operation: BoundedOperation, hasBegun: Bool) -> String? {
    account.withLock { $0.waitReason(operation, hasBegun: hasBegun) }
  }

  /// The operation was cancelled.
  func withdraw(_ operation: BoundedOperation) { carryOut(account.withLock { $0.withdraw(operation) }) }

  /// The operation's work begins.
  func began(_ operation: BoundedOperation) { account.withLock { $0.began() } }

  /// Waits until the operation has `bytes` of the budget.
  ///
  /// - Throws: ``BudgetExceededError``, or ``OperationCancelledError`` when it was cancelled before.
  func reserve(_ bytes: Int, for operation: BoundedOperation) throws {
    var answer = account.withLock { $0.claim(bytes, for: operation, answer: nil) }
    if case .waits = answer {
      let since = ContinuousClock.now
      answer = claim(bytes, for: operation)
      operation.state.withLock { $0.waitedForMemory += .now - since }
    }
    switch answer {
    case .granted: return
    case .refused(let error): throw error
    case .waits, .cancelled: try operation.checkCancelled()
    }
  }

  private func claim(_ bytes: Int, for operation: BoundedOperation) -> Account.ClaimAnswer {
    let wake = DispatchSemaphore(value: 0)
    let later = Locked(Account.ClaimAnswer.waits)  // written before the signal, read after it
    let answer = account.withLock { account in
      account.claim(bytes, for: operation) { answer in
        later.withLock { $0 = answer }
        wake.signal()
      }
    }
    guard case .waits = answer else { return answer }
    wake.wait()
    return later.withLock { $0 }
  }

  func giveBack(_ bytes: Int) { carryOut(account.withLock { $0.giveBack(bytes) }) }

  /// The operation has ended; its observers are to be told.
  func finished(_ operation: BoundedOperation) {
    if operation.deliverEnd(to: self) { departed(operation) }
  }

  /// The operation has ended and its observers have been told: its place is free.
  func departed(_ operation: BoundedOperation) { carryOut(depart(operation)) }

  private func depart(_ operation: BoundedOperation) -> Account.Effects {
    let outcome = operation.state.withLock { state -> Outcome? in
      state.depart()
      return state.outcome
    }
    guard let outcome else { preconditionFailure("operation #\(operation.id) departs before it has ended") }
    return account.withLock { $0.depart(operation, outcome: outcome) }
  }

  // MARK: Doing what the account decided

  /// Carries out what was decided under the lock, and what follows from that, on this thread. A loop, not a recursion:
  /// an operation accepted here may have ended elsewhere before its observers have heard that it was accepted.
  private func carryOut(_ first: Account.Effects) {
    var next: Account.Effects? = first
    while let effects = next.take() {
      for (operation, lane) in effects.started {
        operation.state.withLock { $0.isQueued = false }
        lanes.execute(operation, in: lane)
      }
      for (producer, result) in effects.released {
        if case .failure = result { producer.operation.state.withLock { $0.leave() } }
        producer.release(result)
      }
      for (claim, answer) in effects.answered { claim.answer(answer) }
      guard !effects.accepted.isEmpty || !effects.withdrawn.isEmpty || !effects.drained.isEmpty else { return }
      var departed: [BoundedOperation] = []
      CurrentQueue.with(self) {
        for operation in effects.accepted where operation.deliverAccepted(to: self) { departed.append(operation) }
        for operation in effects.withdrawn {
          operation.state.withLock { $0.isQueued = false }
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
