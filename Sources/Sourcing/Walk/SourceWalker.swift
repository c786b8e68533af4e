import Fetching
import Files
import Foundation

/// Finds sources: it walks folders, checks files that are arguments, and reads lists of paths.
///
/// A walk streams: it visits files while it reads, in the order of the file system or, if ``isSorted``, by name. It
/// keeps one folder open for each level, and reads ahead at most 4,096 entries in all or, if it sorts, 50,000 of each
/// open folder. So its memory does not grow with the number of files. A walker has no state. Several threads may walk
/// at once: one to make thumbnails, one to count.
package struct SourceWalker: Sendable {
  /// Whether a walk continues after a visit.
  package enum Verdict: Sendable { case goOn, stop }

  /// The most levels of folders in a source folder. Each level needs an open file, and many systems allow 1024 open
  /// files.
  package static let maximumDepth = 256
  /// The name of the working folder that every output folder has. It is never walked.
  package static let workingFolderName: Path = ".thumbjob"

  package let arguments: [SourceArgument]
  package let filter: SourceFilter
  package let followsLinks: Bool
  /// Whether the entries of a folder are visited by name, in which numbers are ordered by value.
  package let isSorted: Bool
  /// The output folders. No file in them is a source.
  package let outputs: FolderSet
  /// The parts of buckets to which thumbnails go. No object in them is a source.
  package let bucketOutputs: [StoreLocation]
  package let tree: SourceTree
  /// Lists buckets; nil where only files are walked.
  package var lister: (any ObjectLister)?
  /// The share of the files that are visited; nil for all.
  package let shard: Shard?

  package init(
    arguments: [SourceArgument], filter: SourceFilter = SourceFilter(), followsLinks: Bool = false,
    isSorted: Bool = false, outputs: [Path] = [],
    shard: Shard? = nil
  ) {
    self.init(
      arguments: arguments, filter: filter, followsLinks: followsLinks, isSorted: isSorted, outputs: outputs,
      shard: shard, lister: nil)
  }

  package init(
    arguments: [SourceArgument], filter: SourceFilter, followsLinks: Bool, isSorted: Bool, outputs: [Path],
    shard: Shard?, lister: (any ObjectLister)?, bucketOutputs: [StoreLocation] = []
  ) {
    (self.lister, self.bucketOutputs) = (lister, bucketOutputs)
    self.arguments = arguments
    self.filter = filter
    self.followsLinks = followsLinks
    self.isSorted = isSorted
    self.outputs = FolderSet(outputs)
    self.shard = shard
    tree = SourceTree(of: arguments)
  }

  /// Whether a second walk can find the same sources. A list from a pipe or a terminal can be read only once,
  /// and the listing of a bucket has its price.
  package var canBeWalkedTwice: Bool {
    arguments.allSatisfy { argument in
      switch argument {
      case .list(let list): list.canBeReadTwice
      case .path: true
      case .address(let address): !address.isPartOfBucket
      }
    }
  }

  /// What a walk reads.
  package enum Scope {
    case all
    case argument(Int)
    /// A folder of the argument with this index, if a walk over that argument comes there.
    case folder(Path, Int)
  }

  /// Passes every source to `visit`, in the order of the arguments.
  ///
  /// - Parameter shouldStop: called before every entry; true ends the walk. It must be fast.
  /// - Parameter onError: receives each error at once; the walk goes on.
  /// - Parameter visit: may block; in this way the walk waits for room in the queue.
  /// - Throws: only the errors of `visit`.
  /// - Returns: the counters at the end of the walk.
  @discardableResult
  package func walk(
    shouldStop: () -> Bool = { false }, onError: (WalkError) -> Void,
    visit: (Source) throws -> Verdict
  ) rethrows -> WalkCounters {
    try walk(.all, meanwhile: {}, shouldStop: shouldStop, onFolder: { _, _ in }, onError: onError, visit: visit)
  }

  /// Passes every source of the scope to `visit`, as the walk over everything does.
  ///
  /// - Parameter meanwhile: called before every entry, and some times a second while the walk waits for an entry of a list.
  /// - Parameter onFolder: called with each folder that is open and not yet read, and the index of its argument.
  @discardableResult
  package func walk(
    _ scope: Scope, meanwhile: () -> Void, shouldStop: () -> Bool, onFolder: (OpenFolder, Int) -> Void,
    onError: (WalkError) -> Void, visit: (Source) throws -> Verdict
  ) rethrows -> WalkCounters {
    try withoutActuallyEscaping(meanwhile) { meanwhile in
      try withoutActuallyEscaping(shouldStop) { shouldStop in
        try withoutActuallyEscaping(onFolder) { onFolder in
          try withoutActuallyEscaping(onError) { onError in
            try withoutActuallyEscaping(visit) { visit in
              let walk = Walk(
                self, meanwhile: meanwhile, shouldStop: shouldStop, onFolder: onFolder, onError: onError, visit: visit)
              do {
                try walk.run(scope)
              } catch is Walk.StopError {}
              return walk.counters
            }
          }
        }
      }
    }
  }

  /// Whether a walk of an argument comes to the file or the folder at `relative` in it: filters, links, depth and
  /// output folders may prevent it.
  package func reaches(_ kind: stat.Kind, at relative: Path, below argument: Path) -> Bool {
    let isPassed =
      kind == .folder
      ? filter.reaches(folder: relative) && !outputs.encloses(argument.appending(relative))
      : filter.reaches(file: relative)
    guard isPassed, relative.names.count <= Self.maximumDepth, relative.lastName != Self.workingFolderName else {
      return false
    }
    var above = relative.parent
    while !above.isEmpty {
      guard let status = try? FileStatus.of(argument.appending(above), followingLinks: followsLinks).get(),
        status.kind == .folder, !outputs.contains(FileIdentity(status)), above.lastName != Self.workingFolderName
      else { return false }
      above = above.parent
    }
    return true
  }
}
