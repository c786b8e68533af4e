/// How many bytes of memory the operations of a queue may hold together.
///
/// What counts is what operations reserve for themselves with ``BoundedOperation/withReservation(of:_:)``.
public struct MemoryBudget: Sendable, Hashable {
  /// Bytes that all reservations together may come to, at least 1.
  public var bytes: Int
  /// Bytes that one operation may reserve at the most. Where that is more than ``bytes``, one that needs more than
  /// ``bytes`` waits until it is alone.
  public var largest: Int

  /// - Parameter largest: `bytes` if not given.
  public init(bytes: Int, largest: Int? = nil) {
    precondition(bytes >= 1, "a budget must be at least one byte: with none nothing would ever run")
    precondition(largest.map { $0 >= bytes } ?? true, "one operation may reserve at least what all may")
    self.bytes = bytes
    self.largest = largest ?? bytes
  }
}

/// Thrown where an operation asks for more memory than its queue gives to any one.
public struct BudgetExceededError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Bytes that the operation asked for.
  public let needed: Int
  public let budget: MemoryBudget

  public init(needed: Int, budget: MemoryBudget) { (self.needed, self.budget) = (needed, budget) }

  public var description: String {
    // Rounded up, so that it never looks like no more than there is.
    "needs \(ByteText.mebibytes(needed, rounded: .up)) of memory, more than the "
      + "\(ByteText.mebibytes(budget.largest, rounded: .down)) that one operation may hold"
  }
}
