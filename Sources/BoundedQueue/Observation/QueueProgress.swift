/// How far the operations of a queue are, all together.
public struct QueueProgress: Sendable, Hashable {
  /// Operations accepted so far.
  public let submitted: Int
  /// Those of them that have ended.
  public let ended: Int
  /// The work that is done, in operations: each that has ended counts as one, and each that runs as its progress.
  public let done: Double

  /// The part of the accepted work that is done, 0 to 1; 0 if there is none.
  public var fraction: Double { submitted == 0 ? 0 : done / Double(submitted) }
}
