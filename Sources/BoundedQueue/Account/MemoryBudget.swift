/// The bytes of memory that the operations of a queue may reserve together, with
/// ``BoundedOperation/withReservation(of:_:)``.
public struct MemoryBudget: Sendable, Hashable {
  /// The most bytes of all reservations together, at least 1.
  public let bytes: Int
  /// The most bytes that one operation may reserve. An operation that reserves more than ``bytes`` waits until no other
  /// operation has a reservation.
  public let largest: Int

  /// - Parameters:
  ///   - bytes: the most bytes of all reservations together, at least 1.
  ///   - largest: the most bytes that one operation may reserve, at least `bytes`; default: `bytes`.
  public init(bytes: Int, largest: Int? = nil) {
    precondition(bytes >= 1, "a budget must be at least one byte: otherwise no operation could reserve memory")
    precondition(largest.map { $0 >= bytes } ?? true, "largest must not be less than bytes")
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
    // Rounded up and down, so that the need is shown as more than the limit.
    "needs \(ByteText.text(needed, rounded: .up)) of memory, more than the "
      + "\(ByteText.text(budget.largest, rounded: .down)) that one operation may hold"
  }
}
