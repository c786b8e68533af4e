import Files
import Foundation
import SystemPackage

/// Finds sources: walks folders, looks at named files, reads lists of paths.
///
/// A walk streams: it visits each file as soon as it finds it, in the order of the file system. It keeps one folder open for
/// each level, so its memory depends only on the depth of the tree. A walker has no state. Several threads may walk at once:
/// one to make thumbnails, one to count.
public struct SourceWalker: Sendable {
  /// Whether a walk continues after a visit.
  public enum Verdict: Sendable { case goOn, stop }

  /// The most levels of folders below a source. Each level needs an open file, and many systems allow 1024 of them.
  public static let maximumDepth = 256
  /// The kernel's limit of a path's bytes, without the terminating zero.
  public static let maximumPathLength = 4095
  /// The name of the working folders of runs, which are never walked.
  static let workingFolderName: Path = ".thumbjob"

  public let arguments: [SourceArgument]
  public let filter: SourceFilter
  public let followsLinks: Bool
  /// The output folders, which are never walked.
  public let outputs: [Path]

  public init(
    arguments: [SourceArgument], filter: SourceFilter = SourceFilter(), followsLinks: Bool = false,
    outputs: [Path] = []
  ) {
    self.arguments = arguments
    self.filter = filter
    self.followsLinks = followsLinks
    self.outputs = outputs
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
  /// - Parameter visit: may block; in this way the walk waits for a full queue.
  /// - Throws: only what `visit` throws.
  /// - Returns: the counters up to the end.
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
          } catch is Walk.Stopped {}
          return walk.counters
        }
      }
    }
  }
}
