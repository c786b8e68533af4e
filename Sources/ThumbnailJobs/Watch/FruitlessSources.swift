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
    private let file: SourceFile.Version
    /// The status time; nil if it may be that of later contents than those that were read.
    private let changed: timespec?

    /// - Parameter read: the version that was read; nil if the file could not be opened.
    /// - Returns: nil if the file is gone.
    init?(of path: Path, read: SourceFile.Version?) {
      if let read {
        (file, changed) = (read, nil)
      } else if case .success(let status) = FileStatus.of(path, followingLinks: true) {
        file = SourceFile.Version(bytes: Int(status.st_size), modified: status.modified)
        changed = status.changed
      } else {
        return nil
      }
    }

    /// Whether the file has not changed since.
    func isCurrent(of path: Path) -> Bool {
      guard case .success(let now) = FileStatus.of(path, followingLinks: true) else { return false }
      return file.bytes == now.st_size && isSameTime(file.modified, now.modified)
        && changed.map { isSameTime($0, now.changed) } ?? true
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
