import Files
import Foundation
import SystemPackage

/// Tells which sources are gone.
///
/// A source is gone only if the system says that it has no such file. One that cannot be reached for another reason is not
/// gone, and neither is one behind a link that leads nowhere, or in an empty folder: what was there may not be mounted.
struct VanishedSources {
  enum State {
    /// It is there, or cannot be reached.
    case there
    case gone
    /// It is missing in a folder that is empty: a file system may not be mounted there.
    case missingInEmptyFolder
    /// It is missing behind a link that leads nowhere.
    case missingBehindLink
  }

  /// The last folder in which a file was missing, and the state of everything missing below it: many sources in a row are
  /// in one.
  private var lastFolder: (path: Path, state: State)?

  /// - Parameter source: an absolute path.
  mutating func state(of source: Path) -> State {
    switch FileStatus.of(source, followingLinks: false) {
    case .success: return .there
    case .failure(.notDirectory): return .gone
    case .failure(.noSuchFileOrDirectory): return state(below: source.parent)
    case .failure: return .there
    }
  }

  /// The state of what is missing below a folder.
  private mutating func state(below folder: Path) -> State {
    if let lastFolder, lastFolder.path == folder { return lastFolder.state }
    var state = State.gone
    var above = folder
    while !above.isEmpty, above != "/" {
      if case .success(let status) = FileStatus.of(above, followingLinks: false) {
        if status.kind == .link, FileIdentity(of: above) == nil { state = .missingBehindLink }
        if Self.isEmpty(above) { state = .missingInEmptyFolder }
        break
      }
      above = above.parent
    }
    lastFolder = (folder, state)
    return state
  }

  /// Whether a path is that of a folder without entries.
  static func isEmpty(_ folder: Path) -> Bool {
    guard case .success(let open) = OpenFolder.open(folder, in: AT_FDCWD), case .success(nil) = open.next() else {
      return false
    }
    return true
  }
}
