import Files
import Foundation
import SystemPackage

/// Finds sources: it walks folders, checks files that are arguments, and reads lists of paths.
///
/// A walk streams: it visits files while it reads, in the order of the file system or, if ``isSorted``, by name. It keeps
/// one folder open for each level, and reads ahead at most 4,096 entries in all or, if it sorts, 50,000 of each open
/// folder. So its memory does not grow with the number of files. A walker has no state. Several threads may walk at once:
/// one to make thumbnails, one to count.
public struct SourceWalker: Sendable {
  /// Whether a walk continues after a visit.
  public enum Verdict: Sendable { case goOn, stop }

  /// The most levels of folders in a source folder. Each level needs an open file, and many systems allow 1024 open
  /// files.
  public static let maximumDepth = 256
  /// The name of the working folder that every output folder has. It is never walked.
  static let workingFolderName: Path = ".thumbjob"

  public let arguments: [SourceArgument]
  public let filter: SourceFilter
  public let followsLinks: Bool
  /// Whether the entries of a folder are visited by name, in which numbers are ordered by value.
  let isSorted: Bool
  /// The output folders. No file in them is a source.
  let outputs: FolderSet
  let tree: SourceTree
  /// The share of the files that are visited; nil for all.
  let shard: Shard?

  public init(
    arguments: [SourceArgument], filter: SourceFilter = SourceFilter(), followsLinks: Bool = false,
    isSorted: Bool = false, outputs: [Path] = [],
    shard: Shard? = nil
  ) {
    self.arguments = arguments
    self.filter = filter
    self.followsLinks = followsLinks
    self.isSorted = isSorted
    self.outputs = FolderSet(outputs)
    self.shard = shard
    tree = SourceTree(of: arguments)
  }

  /// Whether a second walk can find the same sources. A list from a pipe or a terminal can be read only once.
  public var canBeWalkedTwice: Bool {
    arguments.allSatisfy { argument in
      if case .list(let list) = argument { list.canBeReadTwice } else { true }
    }
  }

  /// Passes every source to `visit`, in the order of the arguments.
  ///
  /// - Parameter shouldStop: called before every entry; true ends the walk. It must be fast.
  /// - Parameter onError: receives each error at once; the walk goes on.
  /// - Parameter visit: may block; in this way the walk waits for room in the queue.
  /// - Throws: only the errors of `visit`.
  /// - Returns: the counters at the end of the walk.
  @discardableResult
  public func walk(
    shouldStop: () -> Bool = { false }, onError: (WalkError) -> Void,
    visit: (Source) throws -> Verdict
  ) rethrows -> WalkCounters {
    try withoutActuallyEscaping(shouldStop) { shouldStop in
      try withoutActuallyEscaping(onError) { onError in
        try withoutActuallyEscaping(visit) { visit in
          let walk = Walk(self, shouldStop: shouldStop, onError: onError, visit: visit)
          do {
            try walk.run()
          } catch is Walk.StopError {}
          return walk.counters
        }
      }
    }
  }
}
