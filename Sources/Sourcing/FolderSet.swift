import Files
import Foundation

/// A set of folders that can tell whether a path is in one of them, such as the output folders of a job.
package struct FolderSet: Sendable {
  private let identities: Set<FileIdentity>
  /// The absolute paths of folders that do not exist yet. They are kept so that a dry run, which makes no folders,
  /// gives the same answers as a real run.
  private let missing: [Path]

  package init(_ paths: [Path]) {
    var identities: Set<FileIdentity> = []
    var missing: [Path] = []
    for path in paths {
      if let identity = FileIdentity(of: path) {
        identities.insert(identity)
      } else if let absolute = path.absolute {
        missing.append(absolute)
      }
    }
    (self.identities, self.missing) = (identities, missing)
  }

  package func contains(_ folder: FileIdentity) -> Bool { identities.contains(folder) }

  /// Whether one of the folders is the folder at `path` or above it, with links followed, or contains the file there.
  ///
  /// *Complexity*: a `stat` for each level.
  package func encloses(_ path: Path) -> Bool {
    if identities.isEmpty && missing.isEmpty { return false }
    // The kernel resolves `..`, so a link leads to the folders above its target. At the root, `..` is the root.
    let itself = path.appending(".")
    var folder = FileIdentity(of: itself) == nil ? path.parent.appending(".") : itself
    var below: FileIdentity?
    while let identity = FileIdentity(of: folder), identity != below {
      if identities.contains(identity) { return true }
      below = identity
      folder = folder.appending("..")
    }
    return !missing.isEmpty && path.absolute.map { path in missing.contains { path.below($0) != nil } } ?? false
  }
}
