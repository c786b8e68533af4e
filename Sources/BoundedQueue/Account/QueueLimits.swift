/// The bounds of a queue, all changeable while it runs.
public struct QueueLimits: Sendable, Hashable {
  /// Operations running at once; at least 1.
  public var max: Int
  /// Operations accepted and waiting to run; at least 0. With 0 a producer waits until an operation can start at once.
  public var backlog: Int
  /// Bytes that running operations may reserve; nil for as many as they like.
  public var budget: MemoryBudget?

  public init(max: Int, backlog: Int, budget: MemoryBudget? = nil) {
    precondition(max >= 1, "max must be at least 1: with none running nothing would ever finish")
    precondition(backlog >= 0, "backlog must be at least 0")
    self.max = max
    self.backlog = backlog
    self.budget = budget
  }

  /// Takes over what is wider in others.
  mutating func widen(to other: QueueLimits) {
    max = Swift.max(max, other.max)
    backlog = Swift.max(backlog, other.backlog)
    guard let bytes = budget?.bytes else { return }
    if other.budget.map({ $0.bytes > bytes }) ?? true { budget = other.budget }
  }
}
