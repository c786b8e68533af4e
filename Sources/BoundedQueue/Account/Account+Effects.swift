/// What the account is told and what it answers.
extension Account {
  /// A producer in `submit` that found the backlog full.
  struct BlockedProducer {
    let operation: BoundedOperation
    let release: @Sendable (Result<Void, SubmitError>) -> Void
  }

  /// A running operation that waits for memory.
  struct Claim {
    let operation: BoundedOperation
    let bytes: Int
    let answer: @Sendable (ClaimAnswer) -> Void
  }

  enum ClaimAnswer: Sendable {
    case granted
    case waits
    case refused(BudgetExceededError)
    case cancelled
    /// The operation is to be cancelled for this reason, because the queue was stopped and the user has paused it.
    case turnedAway(CancelReason)
  }

  /// The actions to carry out after the lock is released, in this order.
  struct Effects {
    /// Operations to execute, each in its lane.
    var started: [(operation: BoundedOperation, lane: Int)] = []
    /// Producers to wake, with the result of their submission.
    var released: [(producer: BlockedProducer, result: Result<Void, SubmitError>)] = []
    /// Claims to answer.
    var answered: [(claim: Claim, answer: ClaimAnswer)] = []
    /// Operations whose acceptance is to be delivered to the observers.
    var accepted: [BoundedOperation] = []
    /// Operations to end as cancelled while waiting.
    var withdrawn: [BoundedOperation] = []
    /// Callbacks to call because the queue is idle.
    var drained: [@Sendable () -> Void] = []

    mutating func append(_ later: Effects) {
      started += later.started
      released += later.released
      answered += later.answered
      accepted += later.accepted
      withdrawn += later.withdrawn
      drained += later.drained
    }
  }

  enum Admission {
    case accepted
    /// The ticket is for `withdrawProducer(_:)`.
    case blocked(ticket: Int)
    case full
    case refused(SubmitError)
  }
}
