import Files
import Foundation

/// Files that had no thumbnail when they were last tried: those that failed, and those that are no pictures. A walk that
/// comes upon them again passes over them until they change, so that a damaged photo is not tried and reported for ever.
///
/// What is kept is bounded: if there are too many, all are forgotten, and tried again.
struct FruitlessSources {
  /// The most files. Each takes about 200 bytes.
  static let limit = 10_000

  /// The version of a file that was tried.
  struct Version {
    private let state: FileState

    /// - Parameter read: the version that was read; nil if the file could not be opened.
    /// - Returns: nil if the file is gone.
    init?(of path: Path, read: SourceFile.Version?) {
      if let read = read?.state {
        state = read
      } else if case .success(let status) = FileStatus.of(path, followingLinks: true) {
        state = FileState(status)
      } else {
        return nil
      }
    }

    /// Whether the file has not changed since.
    func isCurrent(of path: Path) -> Bool {
      guard case .success(let now) = FileStatus.of(path, followingLinks: true) else { return false }
      return state == FileState(now)
    }
  }

  private var versions: [Path: Version] = [:]

  /// - Parameter version: nil if there is none any more.
  mutating func insert(_ path: Path, _ version: Version?) {
    if versions.count >= Self.limit { versions = [:] }
    if let version { versions[path] = version }
  }

  mutating func remove(_ path: Path) { versions[path] = nil }

  /// The version of the file that was tried; nil if none is known.
  subscript(_ path: Path) -> Version? { versions[path] }
}
