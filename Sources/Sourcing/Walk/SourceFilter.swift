import Files
import Foundation

/// Selects the files of a walk by patterns.
///
/// A file is accepted if no exclude matches it and, if there are includes, at least one of them does. An exclude that
/// matches a folder excludes everything in it. The filter does not apply to files that are arguments themselves.
package struct SourceFilter: Sendable, Equatable {
  package var includes: [Glob]
  package var excludes: [Glob]
  /// Whether hidden files and folders are walked.
  package var takesHidden: Bool

  /// The patterns that have matched something.
  package struct Matches: Sendable, Equatable {
    /// Indexes into the filter's ``SourceFilter/includes`` and ``SourceFilter/excludes``.
    fileprivate var includes: Set<Int> = []
    fileprivate var excludes: Set<Int> = []

    package init() {}
  }

  package init(includes: [Glob] = [], excludes: [Glob] = [], takesHidden: Bool = false) {
    self.includes = includes
    self.excludes = excludes
    self.takesHidden = takesHidden
  }

  /// - Parameters:
  ///   - relativePath: the path from the source folder.
  ///   - matches: receives the patterns that match.
  package func accepts(file relativePath: Path, noting matches: inout Matches) -> Bool {
    if includes.isEmpty && excludes.isEmpty { return true }
    let names = relativePath.names
    // Both are always tried, so that an include has matched even if all its files are excluded.
    let isExcluded = Self.find(names, isFolder: false, in: excludes, &matches.excludes)
    let isIncluded = includes.isEmpty || Self.find(names, isFolder: false, in: includes, &matches.includes)
    return isIncluded && !isExcluded
  }

  /// Whether no exclude matches the folder.
  ///
  /// - Parameters:
  ///   - relativePath: the path from the source folder.
  ///   - matches: receives the patterns that match.
  package func entersFolder(_ relativePath: Path, noting matches: inout Matches) -> Bool {
    excludes.isEmpty || !Self.find(relativePath.names, isFolder: true, in: excludes, &matches.excludes)
  }

  /// Whether no exclude matches the folder or any of those above it. All of them are tried.
  ///
  /// - Parameters:
  ///   - relativePath: the path from the source folder.
  ///   - matches: receives the patterns that match.
  func entersFolders(downTo relativePath: Path, noting matches: inout Matches) -> Bool {
    var (folder, isEntered) = (relativePath, true)
    while !folder.isEmpty {
      isEntered = entersFolder(folder, noting: &matches) && isEntered
      folder = folder.parent
    }
    return isEntered
  }

  /// The patterns that have matched nothing.
  package func unmatched(_ matches: Matches) -> (includes: [Glob], excludes: [Glob]) {
    (
      includes.indices.filter { !matches.includes.contains($0) }.map { includes[$0] },
      excludes.indices.filter { !matches.excludes.contains($0) }.map { excludes[$0] }
    )
  }

  /// Whether one of the patterns matches. After the first match, only patterns that have never matched are tried: it is
  /// not yet known whether they match anything.
  private static func find(_ names: [Path], isFolder: Bool, in globs: [Glob], _ matched: inout Set<Int>) -> Bool {
    var found = false
    for (index, glob) in globs.enumerated() where !found || !matched.contains(index) {
      guard glob.matches(names, isFolder: isFolder) else { continue }
      matched.insert(index)
      found = true
    }
    return found
  }

  /// Whether a name is passed over because it is hidden. Names that begin with a dot are hidden, and so are folders in
  /// which network drives (`@eaDir`) and file systems (`lost+found`) keep files of their own.
  func hides(_ name: Path) -> Bool {
    if takesHidden { return false }
    return name.bytes.first == UInt8(ascii: ".") || name == Self.eaDir || name == Self.lostAndFound
  }

  private static let eaDir: Path = "@eaDir"
  private static let lostAndFound: Path = "lost+found"

  /// Whether a walk reaches the file: the filter accepts the file and enters each folder above it.
  ///
  /// - Parameter relativePath: the path from the source folder.
  package func reaches(file relativePath: Path) -> Bool {
    var matches = Matches()
    return accepts(file: relativePath, noting: &matches) && !hides(relativePath.lastName)
      && reaches(folder: relativePath.parent)
  }

  /// Whether a walk reaches the folder: the filter enters it and each folder above it, and none is hidden.
  ///
  /// - Parameter relativePath: the path from the source folder.
  package func reaches(folder relativePath: Path) -> Bool {
    var matches = Matches()
    return !relativePath.names.contains(where: hides) && entersFolders(downTo: relativePath, noting: &matches)
  }
}
