import CLinux
import Fetching
import Files
import Foundation
import MemoryPressure

/// Where received pictures are until their previews are made.
package struct PictureSpool: Sendable {
  let spool: Spool
  package let folder: Path
  /// Whether the files are in memory: there is no disk that this process may write to.
  package let isInMemory: Bool
  /// The most bytes of all pictures.
  package let bytes: Int

  /// The room that is kept for pictures.
  package var bytesInUse: Int { spool.reserved }

  private static let mostBytes = 1 << 30
  /// The share of the memory limit that files in memory may have.
  private static let memoryShare = 8
  /// The share of the memory limit that files on a disk may have.
  private static let cacheShare = 3

  /// - Parameters:
  ///   - folder: for the files; nil for that of temporary files. If that takes none, they are in memory.
  ///   - wanted: the most bytes; nil for half of the free space, but at most a part of the memory.
  /// - Throws: `FetchError` if a folder was named, and takes no files.
  init(_ named: Path?, wanted: Int?, limit: MemoryLimit) throws(FetchError) {
    folder = named ?? Path(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")
    var takesFiles = true
    do throws(FetchError) { _ = try Spool(folder: folder, bytes: 1).file() } catch {
      if named != nil { throw error }
      takesFiles = false
    }
    var space = statfs()
    let isKnown = folder.withCString { statfs($0, &space) == 0 }
    // TMPFS_MAGIC and RAMFS_MAGIC (linux/magic.h).
    isInMemory =
      !takesFiles || isKnown && [0x0102_1994, 0x8584_58f6].contains(UInt32(truncatingIfNeeded: space.f_type))
    let free = takesFiles && isKnown ? Int(clamping: space.f_bavail) * Int(clamping: space.f_bsize) : Int.max
    // The system has a cache for files. Where they fit into it, most are removed before they are written to the disk.
    let most = isInMemory ? limit.bytes / Self.memoryShare : min(Self.mostBytes, limit.bytes / Self.cacheShare)
    bytes = wanted ?? max(1 << 20, min(most, free / 2))
    spool = takesFiles ? Spool(folder: folder, bytes: bytes) : Spool(inMemory: bytes)
  }
}
