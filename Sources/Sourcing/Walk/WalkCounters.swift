import Files

/// Counters of a walk. Each file without an error is counted in exactly one of `files`, `filtered`, `special`,
/// `hidden`, `inOutput`, `inOtherShards` and `linksNotFollowed`. Files in an output folder that a walk comes upon are not counted,
/// because it does not enter the folder.
package struct WalkCounters: Sendable, Equatable {
  /// Regular files that were visited.
  package var files = 0
  /// Hidden files and folders. What is in these folders is not counted.
  package var hidden = 0
  /// Files that the filter rejected. Files in folders that it rejected are not counted.
  package var filtered = 0
  /// Symbolic links, where links are not followed.
  package var linksNotFollowed = 0
  /// FIFOs, sockets and devices: never opened.
  package var special = 0
  /// Arguments and entries of lists that are in an output folder of this job, and the first of them.
  package var inOutput = 0
  package var firstInOutput: Path?
  /// Files of other shares, of which nothing but the name was read.
  package var inOtherShards = 0
  /// Folders entered.
  package var folders = 0
  /// Errors reported.
  package var errors = 0
  /// Whether the filter has been applied: it does not apply to files that are arguments.
  package var hasFiltered: Bool { folders > 0 || entries > 0 }
  /// Entries of lists that exist.
  package var entries = 0
  /// The patterns of the filter that have matched something.
  package var matches = SourceFilter.Matches()

  package init() {}
}
