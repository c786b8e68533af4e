/// Counters of a walk. Each file without an error is counted in exactly one of `files`, `filtered`, `special` and
/// `linksNotFollowed`.
public struct WalkCounters: Sendable, Equatable {
  /// Regular files that were visited.
  public var files = 0
  /// Files that the filter rejected. Files in folders that it rejected are not counted.
  public var filtered = 0
  /// Symbolic links, where links are not followed.
  public var linksNotFollowed = 0
  /// FIFOs, sockets and devices: never opened.
  public var special = 0
  /// Output folders of other runs. They are skipped, unless one is itself an argument.
  public var earlierOutputs = 0
  /// Folders entered.
  public var folders = 0
  /// Errors reported.
  public var errors = 0

  public init() {}
}
