import Files
import Foundation
import SystemPackage

/// Tells which sources are gone.
///
/// A source is gone only if the system says that it has no such file. One that cannot be reached for another reason is not
/// gone, and neither is one behind a link that leads nowhere: what it leads to may not be mounted.
struct VanishedSources {
  /// Whether what is missing in an empty folder is not gone either: its file system may not be mounted.
  private let sparesEmptyFolders: Bool
  /// The last folder that was found to be gone, and the verdict on everything below it: many sources in a row are in one.
  private var lastFolder: (path: Path, isGone: Bool)?

  init(sparesEmptyFolders: Bool = false) { self.sparesEmptyFolders = sparesEmptyFolders }

  /// - Parameter source: an absolute path.
  mutating func contains(_ source: Path) -> Bool {
    switch FileStatus.of(source, followingLinks: false) {
    case .success: return false
    case .failure(.notDirectory): return true
    case .failure(.noSuchFileOrDirectory): return isGone(below: source.parent)
    case .failure: return false
    }
  }

  /// Whether a folder lacks a file because the file is gone, or because the folder is.
  private mutating func isGone(below folder: Path) -> Bool {
    if let lastFolder, lastFolder.path == folder { return lastFolder.isGone }
    var above = folder
    while !above.isEmpty, above != "/" {
      if case .success(let status) = FileStatus.of(above, followingLinks: false) {
        let isDangling = status.kind == .link && FileIdentity(of: above) == nil
        let isGone = !isDangling && !(sparesEmptyFolders && Self.isEmpty(above))
        lastFolder = (folder, isGone)
        return isGone
      }
      above = above.parent
    }
    lastFolder = (folder, true)
    return true
  }

  /// Whether a path is that of a folder without entries.
  static func isEmpty(_ folder: Path) -> Bool {
    guard case .success(let open) = OpenFolder.open(folder, in: AT_FDCWD), case .success(nil) = open.next() else {
      return false
    }
    return true
  }
}
