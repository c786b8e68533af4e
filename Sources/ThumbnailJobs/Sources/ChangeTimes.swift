import Files
import Foundation
import Locking

#if os(Linux)
  import CLinux
#endif

/// Knows which file systems change a file's status time (`st_ctime`) when it is renamed or replaced, so that this time
/// tells whether a file with an old modification time is a new one.
///
/// Those of Linux do. FAT and its relatives do not keep such a time, and what a file system in user space does is not
/// known.
///
/// *Concurrency*: every member may be called from any thread.
final class ChangeTimes: Sendable {
  /// What is known about a device. Guarded by its lock.
  private let known = Locked<[UInt64: Bool]>([:])

  /// - Parameters:
  ///   - path: a file.
  ///   - status: its status.
  func areKept(for path: Path, _ status: stat) -> Bool {
    let device = FileIdentity(status).device
    if let answer = known.withLock({ $0[device] }) { return answer }
    let answer = path.withCString(Self.areKept)
    known.withLock { $0[device] = answer }
    return answer
  }

  #if os(Linux)
    /// ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, overlayfs, NFS, SMB (statfs(2)).
    private static let reliable: [UInt32] = [
      0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E, 0x0102_1994, 0x794C_7630, 0x6969,
      0xFE53_4D42, 0xFF53_4D42,
    ]

    private static func areKept(_ path: UnsafePointer<CChar>) -> Bool {
      var info = statfs()
      return statfs(path, &info) == 0 && reliable.contains(UInt32(truncatingIfNeeded: info.f_type))
    }
  #else
    private static func areKept(_ path: UnsafePointer<CChar>) -> Bool { true }
  #endif
}
