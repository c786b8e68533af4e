import Foundation

/// A file system that is mounted for one test. `init` returns nil if this process may not mount.
public final class MountedFolder {
  public let path: String

  public init?(at path: String, options: String) {
    self.path = path
    if mount("tmpfs", path, "tmpfs", 0, options) != 0 { return nil }
  }

  public func makeReadOnly() -> Bool { mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 }

  deinit { umount2(path, CInt(MNT_DETACH)) }

  /// Whether this process may mount file systems, found out by a try.
  public static let isPossible: Bool = {
    let folder = TemporaryFolder()
    return MountedFolder(at: folder.path, options: "size=64k") != nil
  }()
}
