import Files
import Foundation
import SystemPackage

/// Tells which sources are gone.
///
/// A source is gone only if the system says that it has no such file. One that cannot be reached for another reason is not
/// gone, and neither is one behind a link that leads nowhere: what it leads to may not be mounted.
struct VanishedSources {
  /// The last folder that was found to be gone, and the verdict on everything below it: many sources in a row are in one.
  private var lastFolder: (path: Path, isGone: Bool)?

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
        lastFolder = (folder, !isDangling)
        return !isDangling
      }
      above = above.parent
    }
    lastFolder = (folder, true)
    return true
  }
}
