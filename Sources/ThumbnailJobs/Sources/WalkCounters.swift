/// What a walk met, by kind. Each file is in exactly one of `files`, `filtered`, `special` and `linksNotFollowed`.
public struct WalkCounters: Sendable, Equatable {
  /// Regular files handed to the visitor.
  public var files = 0
  /// Files that the filters passed over; what lies in folders they closed was never seen and is not counted.
  public var filtered = 0
  /// Symbolic links left alone because links are not followed.
  public var linksNotFollowed = 0
  /// FIFOs, sockets and devices: never opened.
  public var special = 0
  /// Folders of thumbnails from other runs, passed over with all in them. One that is named as a source is walked.
  public var earlierOutputs = 0
  /// Folders entered.
  public var folders = 0
  /// Problems reported.
  public var problems = 0

  public init() {}
}
