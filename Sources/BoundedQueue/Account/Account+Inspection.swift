/// What the account tells of operations.
extension Account {
  func operations(
    waitingLimit: Int, waitingAfter id: Int = 0
  ) -> (running: [BoundedOperation], waiting: [BoundedOperation]) {
    guard isOutOfOrder, waitingLimit > 0 else { return (running, waiting.prefix(waitingLimit) { $0.id > id }) }
    let all =
      (waiting.prefix(.max) { $0.id > id } + dependants.prefix(.max) { $0.id > id }
      + keyed.all { $0.id > id }).sorted { $0.id < $1.id }
    return (running, Array(all.prefix(waitingLimit)))
  }

  func operation(id: Int) -> BoundedOperation? {
    switch places[id] {
    case .running: running.first { $0.id == id }
    case .waiting(let ticket): waiting[ticket]
    case .dependant(let ticket): dependants[ticket]
    case .keyed(let ticket): keyed[ticket]
    case .blocked, .withdrawn, nil: nil
    }
  }

  /// Why an operation waits for a place or, once its work has begun, for memory; nil if it does not wait.
  func waitReason(_ operation: BoundedOperation, hasBegun: Bool) -> String? {
    switch places[operation.id] {
    case .blocked: "its producer waits: the backlog of \(limits.backlog) is full"
    case .keyed:
      "waits for others of \(operation.key ?? ""): \(limits.perKey ?? 0) of them may run at once"
    case .waiting where isPaused: "the queue is \(pauses)"
    case .waiting where canStart: waitReason(operation, bytes: operation.announcedBytes, first: waiting.first)
    case .waiting:
      limits.maxConcurrentOperations == 1
        ? "the only place is taken" : "all \(limits.maxConcurrentOperations) places are taken"
    case .running where !hasBegun: "starting"
    case .running(_, let ticket):
      ticket.flatMap { claims[$0] }.map { claim in
        waitReason(claim.operation, bytes: claim.bytes, first: claims.first?.operation)
      }
    // The operation itself names its dependencies.
    case .dependant, .withdrawn, nil: nil
    }
  }

  /// Why an operation waits for memory.
  ///
  /// - Parameter first: the first that waits for it.
  private func waitReason(_ operation: BoundedOperation, bytes: Int, first: BoundedOperation?) -> String {
    let needs = "waits for memory: needs \(ByteText.text(bytes))"
    if isPaused { return needs + ", the queue is \(pauses)" }
    if reservations >= limits.maxConcurrentOperations { return needs + ", \(reservations) operations have theirs" }
    guard let budget = limits.budget else { return needs }
    if bytes > budget.bytes {
      return needs + ", more than the budget of \(ByteText.text(budget.bytes)): it must be the only reservation"
    }
    let free = ByteText.text(max(0, budget.bytes - reserved), of: budget.bytes)
    let first = first.flatMap { $0 === operation ? nil : ", #\($0.id) is first" }
    return needs + ", \(free) free\(first ?? "")"
  }
}
