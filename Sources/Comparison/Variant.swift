/// A way to go about the same work.
public enum Variant: String, Codable, Sendable, CaseIterable {
  /// The job as it is: a bounded queue, a backlog that the walk waits for, a budget of memory.
  case bounded
  /// A block on a global queue for each source.
  case naive
  /// One source after the other.
  case serial

  public var displayName: String { self == .naive ? "naive GCD" : rawValue }
}

/// What the naive variant captures in its blocks.
public enum NaivePayload: String, Codable, Sendable, CaseIterable {
  /// The file as it is.
  case read
  /// Its pixels, at the scale that the thumbnail is made from.
  case render
}
