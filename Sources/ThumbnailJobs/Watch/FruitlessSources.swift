import Files
import Foundation

/// Files that had no thumbnail when they were last tried: those that failed, and those that are no pictures. A walk that
/// comes upon them again passes over them until they change, so that a damaged photo is not tried and reported for ever.
///
/// What is kept is bounded: if there are too many, all are forgotten, and tried again.
struct FruitlessSources {
  /// The most files. Each takes about 200 bytes.
  static let limit = 10_000

  private struct Version {
    let file: SourceFile.Version
    /// The status time; nil if it may be that of later contents than those that were read.
    let changed: timespec?
  }

  private var versions: [Path: Version] = [:]

  /// - Parameter read: the version that was read; nil if the file could not be opened.
  mutating func insert(_ path: Path, _ read: SourceFile.Version?) {
    if versions.count >= Self.limit { versions = [:] }
    if let read {
      versions[path] = Version(file: read, changed: nil)
    } else if case .success(let status) = FileStatus.of(path, followingLinks: true) {
      let file = SourceFile.Version(bytes: Int(status.st_size), modified: status.modified)
      versions[path] = Version(file: file, changed: status.changed)
    }
  }

  mutating func remove(_ path: Path) { versions[path] = nil }

  /// Whether the file was tried and has not changed since.
  func contains(_ path: Path) -> Bool {
    guard let known = versions[path], case .success(let now) = FileStatus.of(path, followingLinks: true) else {
      return false
    }
    return known.file.bytes == now.st_size && isSameTime(known.file.modified, now.modified)
      && known.changed.map { isSameTime($0, now.changed) } ?? true
  }
}
