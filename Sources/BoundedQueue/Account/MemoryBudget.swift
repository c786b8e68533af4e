/// The bytes of memory that the operations of a queue may reserve together, with
/// ``BoundedOperation/withReservation(of:_:)``.
public struct MemoryBudget: Sendable, Hashable {
  /// The most bytes of all reservations together, at least 1.
  public var bytes: Int
  /// The most bytes that one operation may reserve. If an operation needs more than ``bytes``, it waits until it has the
  /// only reservation.
  public var largest: Int

  /// - Parameters:
  ///   - bytes: for all reservations together, at least 1.
  ///   - largest: bytes that one operation may reserve, at least `bytes`; default: `bytes`.
  public init(bytes: Int, largest: Int? = nil) {
    precondition(bytes >= 1, "a budget must be at least one byte: with none nothing would ever run")
    precondition(largest.map { $0 >= bytes } ?? true, "one operation may reserve at least what all may")
    self.bytes = bytes
    self.largest = largest ?? bytes
  }
}

/// An operation asked for more memory than its queue grants to one operation.
public struct BudgetExceededError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The requested bytes.
  public let needed: Int
  public let budget: MemoryBudget

  public init(needed: Int, budget: MemoryBudget) { (self.needed, self.budget) = (needed, budget) }

  public var description: String {
    // Rounded up, so that the figure is never shown as within the limit.
    "needs \(ByteText.mebibytes(needed, rounded: .up)) of memory, more than the "
      + "\(ByteText.mebibytes(budget.largest, rounded: .down)) that one operation may hold"
  }
}
