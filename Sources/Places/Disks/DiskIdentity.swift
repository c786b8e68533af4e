import Files
import Foundation

#if os(Linux)
import CLinux
#endif

/// Identifies the disk and the folder that are at a path, so that a later run recognises whether they are the same.
///
/// The number of a device is not used: it may change whenever a disk is mounted.
package struct DiskIdentity: Sendable, Hashable {
  /// The identifier of the file system, if it has one, and the number of the folder on it.
  package let text: String

  /// - Returns: nil if there is no such folder.
  package init?(at folder: Path) {
    guard case .success(let status) = FileStatus.of(folder, followingLinks: true), status.kind == .folder else {
      return nil
    }
    text = "\(Self.fileSystem(at: folder))/\(status.st_ino)"
  }

  /// Whether the folder with the text `other` is on the same file system.
  package func isFileSystem(of other: String) -> Bool { other.prefix { $0 != "/" } == text.prefix { $0 != "/" } }

  #if os(Linux)
  /// *Source*: statfs(2): `f_fsid` identifies a file system, and is zero where it has no identifier.
  private static func fileSystem(at folder: Path) -> String {
    var info = statfs()
    guard folder.withCString({ statfs($0, &info) }) == 0 else { return "" }
    let identifier = withUnsafeBytes(of: info.f_fsid) { bytes in
      bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    return String(UInt64(truncatingIfNeeded: info.f_type), radix: 16) + "-" + String(identifier, radix: 16)
  }
  #else
  private static func fileSystem(at folder: Path) -> String { "" }
  #endif
}
