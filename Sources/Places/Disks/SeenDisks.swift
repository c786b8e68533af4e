import Files
import Locking

/// The disks that a walk has met: those of the source folders, and of the mount points in them.
///
/// *Concurrency*: from any thread.
package final class SeenDisks: Sendable {
  private struct State {
    /// What identifies the disks, by folder.
    var disks: [Path: String] = [:]
    /// The device of the folder that was entered last, by argument.
    var devices: [Int: UInt64] = [:]
  }

  /// The most mount points that are remembered.
  private static let most = 1000

  private let state = Locked(State())

  package init() {}

  /// Notes a folder that a walk enters. Its disk is looked up only if it is another one than that of the folder before.
  package func entered(_ folder: OpenFolder, argument: Int) {
    let isRoot = folder.relativePath.isEmpty
    let isNew = state.withLock { state in
      defer { state.devices[argument] = folder.identity.device }
      return isRoot || state.devices[argument] != folder.identity.device && state.disks.count < Self.most
    }
    guard isNew, isRoot || MountPoints.isMountPoint(folder.path), let disk = DiskIdentity(at: folder.path) else {
      return
    }
    state.withLock { $0.disks[folder.path] = disk.text }
  }

  /// What identifies the disks, by folder.
  package var all: [Path: String] { state.withLock { $0.disks } }
}
