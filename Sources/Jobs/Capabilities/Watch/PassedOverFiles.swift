import Files
import Foundation
import Marks
import Sourcing

/// Files that had no thumbnail when they were last tried: those that failed, and those that are no pictures. A walk that
/// comes upon them again passes over them until they change, so that a damaged photo is not tried and reported for ever.
///
/// What is kept is bounded: hashes of the path and of the version of nearly a million files. Of more files, some are
/// forgotten, and tried again.
struct PassedOverFiles {
  /// The most files: as many as 16 MiB hold.
  static let limit = (1 << 20) / 8 * 7

  /// The version of a file that was tried.
  struct Version {
    fileprivate let state: FileState

    fileprivate init(_ state: FileState) { self.state = state }

    /// - Parameter read: the version that was read; nil if the file could not be opened.
    /// - Returns: nil if the file is gone.
    init?(of path: Path, read: SourceFile.Version?) {
      guard let state = read?.state ?? Self.state(of: path) else { return nil }
      self.state = state
    }

    /// Whether the file has not changed since.
    func isCurrent(of path: Path) -> Bool { state == Self.state(of: path) }

    /// The state of a file, or why it cannot be looked at, which stays the same until the cause is mended; nil if it is gone.
    private static func state(of path: Path) -> FileState? {
      switch FileStatus.of(path, followingLinks: true) {
      case .success(let status): FileState(status)
      case .failure(.noSuchFileOrDirectory), .failure(.notDirectory): nil
      case .failure(let error): FileState(value: Int(error.rawValue))
      }
    }
  }

  private var versions = CompactTable(limit: limit)

  /// - Parameter version: nil if there is none any more.
  mutating func insert(_ path: Path, _ version: Version?) {
    if let version { versions.insert(path.compactHash, UInt64(bitPattern: Int64(version.state.value))) }
  }

  mutating func remove(_ path: Path) { versions.remove(path.compactHash) }

  /// The version of the file that was tried; nil if none is known.
  subscript(_ path: Path) -> Version? {
    versions[path.compactHash].map { Version(FileState(value: Int(truncatingIfNeeded: $0))) }
  }
}
