import Files
import Foundation
import Ledger
import Marks

/// Tells which sources are gone.
///
/// A source is gone only if the system says that it has no such file, or if something else than a file has its path. One that
/// cannot be reached for another reason is not gone, and neither is one behind a link that leads nowhere, or in an empty
/// folder: what was there may not be mounted.
package struct VanishedSources {
  package enum State {
    /// It is there, or cannot be reached.
    case there
    case gone
    /// It is missing in a folder that is empty: a file system may not be mounted there.
    case missingInEmptyFolder
    /// It is missing behind a link that leads nowhere.
    case missingBehindLink
    /// It is missing below a mount point that has another disk now, or none.
    case onOtherDisk
  }

  /// Whether a link to a file is a source.
  private let followsLinks: Bool
  /// The mount points that have another disk than before, or none.
  private let otherDisks: [Path]

  /// The last folder in which a file was missing, and the state of everything missing below it: many sources in a row are
  /// in one.
  private var lastFolder: (path: Path, state: State)?

  package init(followsLinks: Bool = true, otherDisks: [Path] = []) {
    (self.followsLinks, self.otherDisks) = (followsLinks, otherDisks)
  }

  /// - Parameters:
  ///   - source: an absolute path.
  ///   - version: of the file that was there; nil if it is not known.
  package mutating func state(of source: Path, _ version: LedgerEntry.Version? = nil) -> State {
    let state: State
    switch FileStatus.of(source, followingLinks: false) {
    case .success(let status): state = self.state(of: source, status, version)
    case .failure(.notDirectory): state = .gone
    case .failure(.noSuchFileOrDirectory): state = self.state(below: source.parent)
    case .failure: state = .there
    }
    // A photo that had the path of the mount point itself was not on the disk.
    return state == .gone && otherDisks.contains { source.below($0)?.isEmpty == false } ? .onOtherDisk : state
  }

  /// The state of a source whose path has something.
  private func state(of source: Path, _ status: stat, _ version: LedgerEntry.Version?) -> State {
    switch status.kind {
    case .regular: return .there
    case .folder, .special: return .gone
    case .link:
      guard case .success(let target) = FileStatus.of(source, followingLinks: true) else { return .missingBehindLink }
      // Where links are not followed in this run, a link may still be the source that an earlier run has made.
      return target.kind == .regular && (followsLinks || FileState(target).value == version?.state) ? .there : .gone
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
  package static func isEmpty(_ folder: Path) -> Bool {
    guard case .success(let open) = OpenFolder.open(folder, in: AT_FDCWD), case .success(nil) = open.next() else {
      return false
    }
    return true
  }
}
