import Files
import Foundation
import SystemPackage

/// Finds sources: walks folders, looks at named files, reads lists of paths.
///
/// It streams: a file is handed on the moment it is met, in the order the file system has it, and memory grows with the
/// depth of the tree alone. One folder is kept open per level. It changes nothing and keeps nothing from one walk to
/// the next, so one walker may be walked by several threads at once: to make thumbnails, and to know the total.
public struct SourceWalker: Sendable {
  /// What a visitor wants next.
  public enum Verdict: Sendable { case goOn, stop }

  /// Deepest nesting of folders below a source; each level holds a file open, and 1024 is what many systems allow.
  public static let maximumDepth = 256
  /// The kernel's bound on a path handed to it, without the NUL.
  public static let maximumPathLength = 4095
  /// Working folders of runs: never walked, also in the output of an earlier run that lies in a source.
  static let workingFolderName: Path = ".thumbjob"

  public let arguments: [SourceArgument]
  public let filter: SourceFilter
  public let followsLinks: Bool
  /// Folders that are never walked: where the thumbnails go.
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

  /// True when a second walk finds the same again: no list comes from a pipe or a terminal, which can be read once.
  public var canBeWalkedTwice: Bool {
    arguments.allSatisfy { argument in
      if case .list(let list) = argument { list.canBeReadTwice } else { true }
    }
  }

  /// Hands every source to `visit`, in argument order.
  ///
  /// - Parameter shouldStop: asked before every entry; true ends the walk. It must be cheap.
  /// - Parameter onProblem: told what could not be looked into, at once.
  /// - Parameter visit: may block for as long as it likes; that is how the walk waits for a full queue.
  /// - Throws: only what `visit` throws.
  /// - Returns: what was met up to the end or the stop.
  @discardableResult
  public func walk(
    shouldStop: () -> Bool = { false }, onProblem: (WalkProblem) -> Void,
    visit: (Source) throws -> Verdict
  ) rethrows -> WalkCounters {
    try withoutActuallyEscaping(shouldStop) { shouldStop in
      try withoutActuallyEscaping(onProblem) { onProblem in
        try withoutActuallyEscaping(visit) { visit in
          let walk = Walk(self, shouldStop: shouldStop, onProblem: onProblem, visit: visit)
          do {
            try walk.run()
          } catch is Walk.Stopped {}
          return walk.counters
        }
      }
    }
  }
}
