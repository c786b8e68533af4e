import Files

/// The mount points below the source folders. While a disk is not mounted, its photos are not gone.
package struct MountPoints {
  private var paths: Set<Path> = []

  package init() {}

  /// Whether the folder is on another device than the one above it.
  package static func isMountPoint(_ path: Path) -> Bool {
    guard let there = FileIdentity(of: path), let above = FileIdentity(of: path.appending("..")) else { return false }
    return there.device != above.device
  }

  package mutating func insert(_ path: Path) { paths.insert(path) }

  /// Whether the path is on a disk that is not mounted now.
  package func isUnmounted(_ path: Path) -> Bool { paths.contains { path.below($0) != nil && !Self.isMountPoint($0) } }

  /// Those that are not mounted now.
  package var unmounted: Set<Path> { paths.filter { !Self.isMountPoint($0) } }
}
