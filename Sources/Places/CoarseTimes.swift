import Files
import Foundation

#if os(Linux)
import CLinux
#endif

/// Knows on which file systems the times of files may be kept to two seconds only, as FAT does.
enum CoarseTimes {
  #if os(Linux)
  /// Those that keep at least the second: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, overlayfs, NFS, SMB
  /// (statfs(2)). Which disk a file system in user space is on is not known.
  private static let fine: [UInt32] = [
    0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E, 0x0102_1994, 0x794C_7630, 0x6969,
    0xFE53_4D42, 0xFF53_4D42,
  ]

  /// Whether times of files in this folder may be kept to two seconds.
  static func areIn(_ folder: Path) -> Bool {
    var info = statfs()
    return folder.withCString { statfs($0, &info) } == 0 && !fine.contains(UInt32(truncatingIfNeeded: info.f_type))
  }
  #else
  static func areIn(_ folder: Path) -> Bool { false }
  #endif
}
