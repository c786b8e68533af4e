import CLinux
import Fetching
import Files
import Foundation
import MemoryPressure

/// Where received pictures are until their previews are made.
struct PictureSpool: Sendable {
  let spool: Spool
  /// Whether the files are in memory: there is no disk that this process may write to.
  let isInMemory: Bool
  /// The most bytes of all pictures.
  let bytes: Int

  private static let mostBytes = 1 << 30
  /// The share of the memory limit that files in memory may have.
  private static let memoryShare = 8

  /// - Parameters:
  ///   - folder: for the files.
  ///   - wanted: the most bytes; nil for half of the free space, at most 1 GiB, or an eighth of the memory.
  init(_ folder: Path, wanted: Int?, limit: MemoryLimit) {
    var space = statfs()
    let isThere = folder.withCString { statfs($0, &space) == 0 && access($0, W_OK | X_OK) == 0 }
    // TMPFS_MAGIC and RAMFS_MAGIC (linux/magic.h).
    isInMemory = !isThere || [0x0102_1994, 0x8584_58f6].contains(UInt32(truncatingIfNeeded: space.f_type))
    let free = Int(clamping: space.f_bavail) &* Int(clamping: space.f_bsize)
    bytes =
      wanted
      ?? (isInMemory ? max(1 << 20, limit.bytes / Self.memoryShare) : min(Self.mostBytes, max(1 << 20, free / 2)))
    spool = isThere ? Spool(folder: folder, bytes: bytes) : Spool(inMemory: bytes)
  }
}
