/// The life of an operation as a value: which phase it is in, why it was cancelled, what its observers have yet to hear.
/// Its methods decide; whoever holds the lock around it acts on the answer afterwards.
struct OperationState {
  typealias Instant = ContinuousClock.Instant

  enum Phase {
    /// In no queue yet.
    case new
    /// In a queue: its producer waits for a place, or it waits to run, or for a thread to run on.
    case waiting(since: Instant)
    /// In ``BoundedOperation/execute()``.
    case running(since: Instant, waited: Duration)
    case ended(Outcome, at: Instant, waited: Duration, ran: Duration)
  }

  private(set) var phase = Phase.new
  private(set) var queue: BoundedOperationQueue?
  var cancelReason: CancelReason?
  private(set) var stage: String?
  /// How long it has waited for memory in all, not counting the wait that goes on.
  var waitedForMemory = Duration.zero
  /// True while the operation is the queue's and not yet handed to a thread or taken out.
  var isQueued = false

  /// Events that happened and are not yet delivered. Never more than an operation has stages, plus three.
  private var events: [QueueEvent] = []
  /// True while some thread delivers the events of this operation: the others leave theirs to it, which keeps the order.
  private var isDelivering = false

  var outcome: Outcome? {
    if case .ended(let outcome, _, _, _) = phase { outcome } else { nil }
  }

  /// A copy for looking at, which keeps no other operation alive.
  func withoutEvents() -> OperationState {
    var copy = self
    copy.events = []
    copy.queue = nil
    return copy
  }

  // MARK: Life

  /// Joins a queue; false when the operation is not new. The joiner has the right to deliver and must use it or leave.
  mutating func join(_ queue: BoundedOperationQueue, at now: Instant) -> Bool {
    guard case .new = phase, self.queue == nil else { return false }
    phase = .waiting(since: now)
    self.queue = queue
    isQueued = true
    isDelivering = true
    return true
  }

  /// Undoes `join` for an operation that was not accepted.
  mutating func leave() {
    phase = .new
    queue = nil
    isQueued = false
    isDelivering = false
  }

  /// The work begins; false when it was cancelled before.
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

  /// The reason, if the operation was cancelled before it could begin and has not been settled.
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

  /// The queue has let go of it.
  mutating func depart() { queue = nil }

  // MARK: Events

  /// When the queue accepted it, for an event that is told now: before its work began, which may have happened since.
  func acceptedAt() -> Instant {
    switch phase {
    case .new, .waiting: .now
    case .running(let since, _): since
    case .ended(_, let end, _, let ran): end - ran
    }
  }

  /// Adds an event for delivery; true when the caller is to deliver it, and all that follow until `nextEvent` is nil.
  mutating func post(_ event: QueueEvent) -> Bool {
    events.append(event)
    guard !isDelivering else { return false }
    isDelivering = true
    return true
  }

  /// The next event for the thread that delivers; nil ends its turn.
  mutating func nextEvent() -> QueueEvent? {
    guard !events.isEmpty else {
      isDelivering = false
      return nil
    }
    return events.removeFirst()
  }
}
