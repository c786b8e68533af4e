/// One of the ways to do the same work.
public enum Variant: String, Codable, Sendable, CaseIterable {
  /// The job as it is: a bounded queue, a walk that waits while the backlog is full, a memory budget.
  case bounded
  /// A block on a global queue of Dispatch for each source.
  case naive
  /// One source after the other.
  case serial

  public var displayName: String { self == .naive ? "naive GCD" : rawValue }
}

/// What the blocks of the naive variant capture.
public enum NaivePayload: String, Codable, Sendable, CaseIterable {
  /// The bytes of the file.
  case read
  /// The pixels, decoded at the scale that the thumbnail needs.
  case render
}
