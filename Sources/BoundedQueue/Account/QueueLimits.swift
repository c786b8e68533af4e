/// The limits of a queue; all can be changed while it runs.
public struct QueueLimits: Sendable, Hashable {
  /// The most operations that run at once; at least 1.
  public var maxConcurrentOperations: Int { didSet { checkBounds() } }
  /// The most operations that wait to run; at least 0. With 0 a producer waits until its operation can start at once.
  public var backlog: Int { didSet { checkBounds() } }
  /// The bytes that running operations may reserve; nil means no limit.
  public var budget: MemoryBudget?
  /// The most operations with the same ``BoundedOperation/key`` that run at once; at least 1, and nil means no limit. Others of
  /// the key wait without a place, so operations with other keys pass them.
  public var perKey: Int? { didSet { checkBounds() } }

  public init(maxConcurrentOperations: Int, backlog: Int, budget: MemoryBudget? = nil, perKey: Int? = nil) {
    self.maxConcurrentOperations = maxConcurrentOperations
    self.backlog = backlog
    self.budget = budget
    self.perKey = perKey
    checkBounds()
  }

  private func checkBounds() {
    precondition(
      maxConcurrentOperations >= 1, "maxConcurrentOperations must be at least 1: otherwise no operation would ever run")
    precondition(backlog >= 0, "backlog must be at least 0")
    precondition(perKey ?? 1 >= 1, "perKey must be at least 1: otherwise no operation with a key would ever run")
  }

  /// Raises each limit to the other's if that is higher. Of two budgets, the one with more ``MemoryBudget/bytes`` is
  /// kept.
  mutating func widen(to other: QueueLimits) {
    maxConcurrentOperations = max(maxConcurrentOperations, other.maxConcurrentOperations)
    backlog = max(backlog, other.backlog)
    perKey = perKey.flatMap { own in other.perKey.map { max(own, $0) } }
    guard let bytes = budget?.bytes else { return }
    if other.budget.map({ $0.bytes > bytes }) ?? true { budget = other.budget }
  }
}
