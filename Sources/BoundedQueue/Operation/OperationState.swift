import Locking

#if TracingSupport
import Tracing
#endif

/// The state of an operation as a value: its phase, the reason for its cancellation, and its undelivered events. The
/// methods only decide; the caller acts on their results after it has released the lock.
struct OperationState {
  typealias Instant = ContinuousClock.Instant

  enum Phase {
    /// Not in a queue yet.
    case new
    /// In a queue: its producer waits for room, or the operation waits for a place or for its thread.
    case waiting(since: Instant)
    /// Its work has begun: ``BoundedOperation/execute()`` runs.
    case running(since: Instant, waited: Duration)
    case ended(Outcome, at: Instant, waited: Duration, ran: Duration)
  }

  private(set) var phase = Phase.new
  private(set) var queue: BoundedOperationQueue?
  var cancelReason: CancelReason?
  private(set) var stage: String?
  /// How long it has waited for memory in total. A wait that is still going on is not included.
  var waitedForMemory = Duration.zero
  var dependencies = Dependencies()
  /// Wakes the thread that pauses within the work; nil if none does.
  var alarm: TimedSignal?
  /// Cancels the operation when its time is up.
  var timer: Task<Void, Never>?
  /// The task of the work, if it is one.
  var turn = Turn()
  /// The tasks that wait for the end.
  private var waiters = WaitingLine<SuspendedTask>()
  private var isFinished = false
  /// True once a queue has accepted the operation.
  private(set) var isAccepted = false
  /// True from joining a queue until the operation is handed to a thread or withdrawn.
  var isQueued = false

  /// Events that are not yet delivered: at most the start, the stages and the end.
  private var events: [QueueEvent] = []
  /// True while a thread delivers the events of this operation. Other threads leave their events to it, which keeps
  /// them in order.
  private var isDelivering = false

  #if TracingSupport
  /// The context in which the operation was made.
  let context = ServiceContext.current
  #endif

  var outcome: Outcome? {
    if case .ended(let outcome, _, _, _) = phase { outcome } else { nil }
  }

  /// Whether the operation belongs to no queue and has not begun.
  var isNew: Bool {
    if case .new = phase { queue == nil } else { false }
  }

  /// Whether the operation ends without a further submission: a queue has accepted it, or it was started.
  var isSubmitted: Bool {
    switch phase {
    case .new, .waiting: isAccepted
    case .running, .ended: true
    }
  }

  /// A copy for snapshots, which keeps no queue and no events alive.
  func withoutEvents() -> OperationState {
    var copy = self
    copy.events = []
    copy.queue = nil
    (copy.timer, copy.turn) = (nil, Turn())
    copy.waiters = WaitingLine()
    return copy
  }

  // MARK: Life

  /// Joins a queue; false if the operation is not new. The caller gets the right to deliver events, and must deliver or
  /// call `leave`.
  mutating func join(_ queue: BoundedOperationQueue, at now: Instant) -> Bool {
    guard case .new = phase, self.queue == nil else { return false }
    phase = .waiting(since: now)
    self.queue = queue
    isQueued = true
    isDelivering = true
    turn = Turn(number: turn.number + 1)
    return true
  }

  /// Undoes `join` for an operation that was not accepted.
  mutating func leave() {
    phase = .new
    queue = nil
    isQueued = false
    isDelivering = false
  }

  /// Begins the work; false if the operation was cancelled before.
  mutating func begin() -> Bool {
    guard cancelReason == nil else { return false }
    let now = ContinuousClock.now
    switch phase {
    case .new: phase = .running(since: now, waited: .zero)
    case .waiting(let since): phase = .running(since: now, waited: now - since)
    case .running, .ended: return false
    }
    return true
  }

  mutating func enter(_ stage: String) -> Bool {
    guard case .running = phase, self.stage != stage else { return false }
    self.stage = stage
    return true
  }

  /// The reason for a cancellation, if the operation has neither begun nor ended.
  func reasonToEndUnstarted() -> CancelReason? {
    switch phase {
    case .new, .waiting: cancelReason
    case .running, .ended: nil
    }
  }

  mutating func end(_ outcome: Outcome) -> Bool {
    let now = ContinuousClock.now
    switch phase {
    case .new: phase = .ended(outcome, at: now, waited: .zero, ran: .zero)
    case .waiting(let since): phase = .ended(outcome, at: now, waited: now - since, ran: .zero)
    case .running(let since, let waited): phase = .ended(outcome, at: now, waited: waited, ran: now - since)
    case .ended: return false
    }
    return true
  }

  /// Foundation has ended the operation, too.
  ///
  /// - Returns: the tasks that wait for the end.
  mutating func finish() -> [SuspendedTask] {
    isFinished = true
    return waiters.removeAll()
  }

  /// Has a task wait for the end.
  ///
  /// - Returns: the ticket with which it is forgotten; nil if the operation has ended.
  mutating func add(_ waiter: SuspendedTask) -> Int? { isFinished ? nil : waiters.append(waiter) }

  /// - Returns: false if the task does not wait any more.
  mutating func forgetWaiter(_ ticket: Int) -> Bool { waiters.remove(ticket) != nil }

  /// Releases the queue after the operation has left it.
  ///
  /// - Returns: what it held of other operations.
  mutating func depart() -> Dependencies.Released {
    queue = nil
    return dependencies.end()
  }

  // MARK: Events

  /// Notes that the queue has accepted the operation.
  ///
  /// - Returns: the time of the event `waiting`, which is delivered now. It must not be later than the start of the work,
  ///   which may have begun already.
  mutating func accept() -> Instant {
    isAccepted = true
    return switch phase {
    case .new, .waiting: .now
    case .running(let since, _): since
    case .ended(_, let end, _, let ran): end - ran
    }
  }

  /// Queues an event; true if the caller must deliver it and all that follow, until `nextEvent` returns nil.
  mutating func post(_ event: QueueEvent) -> Bool {
    events.append(event)
    guard !isDelivering else { return false }
    isDelivering = true
    return true
  }

  /// The next event for the delivering thread; nil ends its right to deliver.
  mutating func nextEvent() -> QueueEvent? {
    guard !events.isEmpty else {
      isDelivering = false
      return nil
    }
    return events.removeFirst()
  }
}
