/// The bookkeeping of a queue: waiting and running operations, blocked producers, and counts. A value that only
/// decides: each method returns the ``Effects`` that the queue carries out after it has released the lock.
///
/// *Complexity*: no cost grows with the number of operations ever submitted. A step of one operation is O(1), except
/// that leaving the waiting line early is O(log backlog) and leaving the running operations O(max). Listing and
/// cancelling all operations are linear in their number.
struct Account {
  /// Where an operation of this queue is.
  enum Place {
    /// Its producer waits for room in the backlog.
    case blocked(ticket: Int)
    case waiting(ticket: PriorityLine<BoundedOperation>.Ticket)
    /// It waits for its dependencies.
    case dependant(ticket: Int)
    /// It waits for others of its key.
    case keyed(KeyedLines<BoundedOperation>.Ticket)
    /// It has a lane. While it waits for memory, `claim` is the ticket of its claim.
    case running(lane: Int, claim: Int?)
    /// Taken out of the waiting line by a cancellation; its end is being delivered.
    case withdrawn
  }

  private(set) var limits: QueueLimits
  private(set) var widestLimits: QueueLimits
  /// Why the queue is paused.
  private(set) var pauses: PauseReason = []
  private(set) var isClosed = false
  /// Why the queue was stopped; nil before.
  private var stopReason: CancelReason?
  /// The place of each operation of this queue, by id. It is not kept in the operation, because the operation may
  /// belong to another queue by the time a cancellation arrives here.
  private(set) var places: [Int: Place] = [:]
  /// The operations that may start, in this order.
  private(set) var waiting = PriorityLine<BoundedOperation>()
  /// The accepted operations whose dependencies have not ended. They count as waiting, so a backlog full of them is full.
  private(set) var dependants = WaitingLine<BoundedOperation>()
  /// The operations that may start as soon as others of their keys have ended. Those that wait for a place are under way like
  /// those that have one.
  private(set) var keyed = KeyedLines<BoundedOperation>()
  /// The ids of the operations, accepted or with a blocked producer, whose dependencies have not ended.
  private var unready: Set<Int> = []
  /// Whether operations may wait in another order than that of their creation: one has had dependencies, or they were
  /// submitted in another order.
  private(set) var isOutOfOrder = false
  /// The highest id of all accepted operations.
  private var lastAccepted = 0
  private(set) var running: [BoundedOperation] = []
  /// Lanes without an operation. The number of lanes is the most operations that have run at once.
  private var freeLanes: [Int] = []
  private var executing = 0
  private var blocked = WaitingLine<BlockedProducer>()
  private var withdrawing = 0
  private(set) var claims = WaitingLine<Claim>()
  /// The bytes of all reservations.
  private(set) var reserved = 0
  /// The number of reservations.
  private(set) var reservations = 0
  private var drainers = WaitingLine<@Sendable () -> Void>()
  private var totals = QueueCounters()

  init(limits: QueueLimits) { (self.limits, widestLimits) = (limits, limits) }

  var counters: QueueCounters {
    var counters = totals
    counters.waiting = waitingCount
    counters.waitingForDependencies = dependants.count
    counters.waitingForKey = keyed.count
    counters.running = running.count
    counters.blockedProducers = blocked.count
    counters.waitingForMemory = claims.count
    counters.reserved = reserved
    return counters
  }

  var isIdle: Bool { running.isEmpty && waitingCount == 0 && blocked.isEmpty && withdrawing == 0 }

  var isPaused: Bool { !pauses.isEmpty }
  var canStart: Bool { !isPaused && running.count < limits.maxConcurrentOperations }
  private var waitingCount: Int { waiting.count + dependants.count + keyed.count }

  /// An operation that can start at once needs no room in the backlog.
  private func hasRoom(for operation: BoundedOperation) -> Bool {
    waitingCount < limits.backlog
      || (waiting.isEmpty && canStart && isReady(operation) && isFree(operation) && fits(operation))
  }

  /// Whether the bytes that an operation has announced can be reserved now. Operations that wait for memory in their work
  /// hold a place, so they come first.
  private func fits(_ operation: BoundedOperation) -> Bool {
    operation.announcedBytes == 0 || claims.isEmpty && mayReserve(operation.announcedBytes)
  }

  /// Whether an operation need not wait for others of its key.
  private func isFree(_ operation: BoundedOperation) -> Bool {
    operation.key.map { keyed.hasRoom($0, limit: mostPerKey) } ?? true
  }

  private var mostPerKey: Int { limits.perKey ?? .max }

  private func isReady(_ operation: BoundedOperation) -> Bool { !unready.contains(operation.id) }

  // MARK: Admission

  /// - Parameters:
  ///   - isReady: false if a dependency of the operation has not ended. ``ready(_:)`` must be called when all have.
  ///   - release: wakes the producer; nil if the producer must not wait.
  mutating func admit(
    _ operation: BoundedOperation, isReady: Bool = true,
    orBlock release: (@Sendable (Result<Void, SubmitError>) -> Void)?
  ) -> (Admission, Effects) {
    var effects = Effects()
    guard !isClosed else { return (.refused(.closed), effects) }
    if let budget = limits.budget, operation.announcedBytes > budget.largest {
      return (.refused(.exceedsBudget(BudgetExceededError(needed: operation.announcedBytes, budget: budget))), effects)
    }
    if operation.isCancelled {
      // It needs no place. It is accepted and withdrawn in one step, so that it is counted and ends like any other.
      totals.submitted += 1
      withdraw([operation], into: &effects)
      effects.accepted.append(operation)
      return (.accepted, effects)
    }
    if !isReady { unready.insert(operation.id) }
    if blocked.isEmpty, hasRoom(for: operation) {
      accept(operation, into: &effects)
      return (.accepted, effects)
    }
    guard let release else {
      unready.remove(operation.id)
      return (.full, effects)
    }
    let producer = BlockedProducer(operation: operation, release: release)
    let ticket = blocked.append(producer)
    places[operation.id] = .blocked(ticket: ticket)
    return (.blocked(ticket: ticket), effects)
  }

  /// Lets an operation whose dependencies have all ended wait for a place.
  mutating func ready(_ operation: BoundedOperation) -> Effects {
    guard unready.remove(operation.id) != nil else { return Effects() }
    if case .dependant(let ticket) = places[operation.id], dependants.remove(ticket) != nil {
      wait(operation)
    }
    return dispatch()
  }

  /// Has an operation wait for others of its key, or else for a place.
  private mutating func wait(_ operation: BoundedOperation) {
    if let key = operation.key {
      guard isFree(operation) else {
        isOutOfOrder = true
        places[operation.id] = .keyed(keyed.append(operation, key, operation.queuePriority))
        return
      }
      keyed.enter(key)
    }
    waitForPlace(operation)
  }

  private mutating func waitForPlace(_ operation: BoundedOperation) {
    let priority = operation.queuePriority
    if priority != .normal { isOutOfOrder = true }
    places[operation.id] = .waiting(ticket: waiting.append(operation, priority))
  }

  /// Counts an operation whose work begins on a thread.
  mutating func began() {
    executing += 1
    totals.peakRunning = max(totals.peakRunning, executing)
  }

  // MARK: Memory

  /// Claims memory for a running operation. If the result is `.waits`, `answer` is called later. A caller that passed
  /// nil must then call again with an `answer`, because nothing has been queued.
  mutating func claim(
    _ bytes: Int, for operation: BoundedOperation, answer: (@Sendable (ClaimAnswer) -> Void)?
  ) -> ClaimAnswer {
    if let answer = refusal(bytes, operation) { return answer }
    if claims.isEmpty, grant(bytes) { return .granted }
    if let answer {
      setClaim(claims.append(Claim(operation: operation, bytes: bytes, answer: answer)), of: operation)
    }
    return .waits
  }

  mutating func giveBack(_ bytes: Int) -> Effects {
    reserved -= bytes
    reservations -= 1
    return dispatch()
  }

  /// The answer to a claim that can never be granted; nil if it can.
  private func refusal(_ bytes: Int, _ operation: BoundedOperation) -> ClaimAnswer? {
    // Checked under the lock. A cancellation marks the operation first and looks for its claim afterwards, so either
    // this check sees the mark or the cancellation finds the claim.
    if operation.isCancelled { return .cancelled }
    // Nothing tells whether such a pause ever ends. One for memory pressure does.
    if let stopReason, pauses.contains(.user) { return .turnedAway(stopReason) }
    if let budget = limits.budget, bytes > budget.largest {
      return .refused(BudgetExceededError(needed: bytes, budget: budget))
    }
    return nil
  }

  /// Reserves the bytes; false if the claim has to wait.
  private mutating func grant(_ bytes: Int) -> Bool {
    guard mayReserve(bytes) else { return false }
    reserve(bytes)
    return true
  }

  private func mayReserve(_ bytes: Int) -> Bool {
    guard !isPaused, reservations < limits.maxConcurrentOperations else { return false }
    // Only an operation that holds the sole reservation may exceed the budget.
    guard let budget = limits.budget, reserved > 0 else { return true }
    return bytes <= budget.bytes - reserved
  }

  private mutating func reserve(_ bytes: Int) {
    reserved += bytes
    reservations += 1
    totals.peakReserved = max(totals.peakReserved, reserved)
  }

  /// Serves claims in order, even if a later one would fit sooner, so that a large claim does not wait for ever.
  private mutating func answerClaims(into effects: inout Effects) {
    while let claim = claims.first {
      let refusal = refusal(claim.bytes, claim.operation)
      guard let answer = refusal ?? (grant(claim.bytes) ? .granted : nil) else { return }
      _ = claims.popFirst()
      setClaim(nil, of: claim.operation)
      effects.answered.append((claim, answer))
    }
  }

  private mutating func setClaim(_ ticket: Int?, of operation: BoundedOperation) {
    guard case .running(let lane, _) = places[operation.id] else { return }
    places[operation.id] = .running(lane: lane, claim: ticket)
  }

  // MARK: Departure

  /// Frees the place of an operation that has ended and whose observers have received its end.
  mutating func depart(_ operation: BoundedOperation, outcome: Outcome) -> Effects {
    var effects = Effects()
    if case .running(let lane, _) = places.removeValue(forKey: operation.id),
      let index = running.firstIndex(where: { $0 === operation })
    {
      running.remove(at: index)
      freeLanes.append(lane)
      if operation.announcedBytes > 0 {
        reserved -= operation.announcedBytes
        reservations -= 1
      }
      leaveKey(operation)
      totals.count(outcome)
      if case .cancelledWhileWaiting = outcome {} else { executing -= 1 }
    } else {
      withdrawing -= 1
    }
    if outcome.cancelReason == .dependency { totals.cancelledForDependencies += 1 }
    dispatch(into: &effects)
    return effects
  }

  /// Lets the next of the operation's key wait for a place.
  private mutating func leaveKey(_ operation: BoundedOperation) {
    guard let key = operation.key, let next = keyed.leave(key, limit: mostPerKey) else { return }
    waitForPlace(next)
  }

  /// Takes a cancelled operation out of the line in which it waits for room, for a place or for memory.
  mutating func withdraw(_ operation: BoundedOperation) -> Effects {
    var effects = Effects()
    switch places[operation.id] {
    case .blocked(let ticket):
      guard let producer = blocked.remove(ticket) else { break }
      totals.submitted += 1
      effects.released.append((producer, .success(())))
      effects.accepted.append(operation)
      withdraw([operation], into: &effects)
    case .waiting(let ticket):
      guard waiting.remove(ticket) != nil else { break }
      leaveKey(operation)
      withdraw([operation], into: &effects)
    case .keyed(let ticket):
      guard keyed.remove(ticket) != nil else { break }
      withdraw([operation], into: &effects)
    case .dependant(let ticket):
      guard dependants.remove(ticket) != nil else { break }
      withdraw([operation], into: &effects)
    case .running(_, let ticket):
      guard let claim = ticket.flatMap({ claims.remove($0) }) else { break }
      setClaim(nil, of: operation)
      effects.answered.append((claim, .cancelled))
    case .withdrawn, nil: break
    }
    dispatch(into: &effects)
    return effects
  }

  /// Takes all operations out of the waiting line and refuses all blocked producers. If the queue is closed and the user has
  /// paused it, no operation waits for memory any more, now or later.
  mutating func withdrawAll(_ reason: CancelReason, closing: Bool) -> Effects {
    var effects = Effects()
    isClosed = isClosed || closing
    if closing, stopReason == nil { stopReason = reason }
    withdraw(takeWaiting() + dependants.removeAll(), into: &effects)
    turnAway(.cancelled(reason), into: &effects)
    dispatch(into: &effects)
    return effects
  }

  // MARK: Control

  mutating func setLimits(_ limits: QueueLimits) -> Effects {
    let isKeyLimitChanged = self.limits.perKey != limits.perKey
    self.limits = limits
    widestLimits.widen(to: limits)
    if isKeyLimitChanged { waitAgain() }
    return dispatch()
  }

  /// Has all operations that wait for a place or for their keys wait anew, because another number of each key may be under way.
  private mutating func waitAgain() {
    for operation in takeWaiting() { wait(operation) }
  }

  /// Takes the operations out of their lines that wait for a place, and then those that wait for their keys.
  private mutating func takeWaiting() -> [BoundedOperation] {
    let ofKeys = keyed.removeAll()
    let forPlaces = waiting.removeAll()
    for operation in forPlaces { leaveKey(operation) }
    return forPlaces + ofKeys.sorted { $0.id < $1.id }
  }

  mutating func pause(_ reason: PauseReason) -> Effects {
    pauses.formUnion(reason)
    return dispatch()
  }

  mutating func resume(_ reason: PauseReason) -> Effects {
    pauses.subtract(reason)
    return dispatch()
  }

  mutating func close() -> Effects {
    var effects = Effects()
    isClosed = true
    turnAway(.closed, into: &effects)
    dispatch(into: &effects)
    return effects
  }

  /// Removes a blocked producer whose task was cancelled; false if it was already released.
  mutating func withdrawProducer(_ ticket: Int) -> (Bool, Effects) {
    guard let producer = blocked.remove(ticket) else { return (false, Effects()) }
    places[producer.operation.id] = nil
    unready.remove(producer.operation.id)
    return (true, dispatch())
  }

  /// Calls `wake` once the queue is idle.
  ///
  /// - Returns: a ticket for ``forgetDrainer(_:)``.
  mutating func whenIdle(_ wake: @escaping @Sendable () -> Void) -> (ticket: Int, Effects) {
    let ticket = drainers.append(wake)
    return (ticket, dispatch())
  }

  /// Calls it no more; false if it is being called already.
  mutating func forgetDrainer(_ ticket: Int) -> Bool { drainers.remove(ticket) != nil }

  // MARK: Dispatch

  /// Called after every change that may free something: grants claims, starts waiting operations, accepts blocked
  /// producers and, if the queue is then idle, wakes the callers of `drain`.
  private mutating func dispatch(into effects: inout Effects) {
    answerClaims(into: &effects)
    repeat {
      while canStart, let first = waiting.first, fits(first), let operation = waiting.popFirst() {
        run(operation, into: &effects)
      }
      guard let first = blocked.first, hasRoom(for: first.operation), let producer = blocked.popFirst() else { break }
      effects.released.append((producer, .success(())))
      accept(producer.operation, into: &effects)
    } while true
    if !drainers.isEmpty, isIdle {
      effects.drained = drainers.removeAll()
    }
  }

  private mutating func dispatch() -> Effects {
    var effects = Effects()
    dispatch(into: &effects)
    return effects
  }

  private mutating func accept(_ operation: BoundedOperation, into effects: inout Effects) {
    totals.submitted += 1
    effects.accepted.append(operation)
    if operation.id < lastAccepted { isOutOfOrder = true }
    lastAccepted = max(lastAccepted, operation.id)
    if !isReady(operation) {
      isOutOfOrder = true
      places[operation.id] = .dependant(ticket: dependants.append(operation))
    } else if waiting.isEmpty, canStart, isFree(operation), fits(operation) {
      if let key = operation.key { keyed.enter(key) }
      return run(operation, into: &effects)
    } else {
      wait(operation)
    }
    totals.peakWaiting = max(totals.peakWaiting, waitingCount)
  }

  private mutating func run(_ operation: BoundedOperation, into effects: inout Effects) {
    let lane = freeLanes.popLast() ?? running.count
    places[operation.id] = .running(lane: lane, claim: nil)
    running.append(operation)
    if operation.announcedBytes > 0 { reserve(operation.announcedBytes) }
    effects.started.append((operation, lane))
  }

  private mutating func withdraw(_ operations: [BoundedOperation], into effects: inout Effects) {
    for operation in operations {
      places[operation.id] = .withdrawn
      unready.remove(operation.id)
    }
    withdrawing += operations.count
    totals.cancelledWhileWaiting += operations.count
    effects.withdrawn += operations
  }

  private mutating func turnAway(_ error: SubmitError, into effects: inout Effects) {
    for producer in blocked.removeAll() {
      places[producer.operation.id] = nil
      unready.remove(producer.operation.id)
      effects.released.append((producer, .failure(error)))
    }
  }
}
