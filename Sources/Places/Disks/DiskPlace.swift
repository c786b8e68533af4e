import Files
import Foundation

#if os(Linux)
import CLinux
#endif

/// Where the contents of a file begin on its disk.
package enum DiskPlace: Sendable, Equatable {
  case byte(UInt64)
  /// It cannot be opened, or has no place of its own: it is empty, very small, or not written yet.
  case none
  /// Its file system does not tell.
  case unknown

  package init(of path: Path) {
    #if os(Linux)
    guard let file = try? openToRead(path) else {
      self = .none
      return
    }
    defer { close(file) }
    // struct fiemap with room for one struct fiemap_extent (linux/fiemap.h).
    self = withUnsafeTemporaryAllocation(byteCount: 32 + 56, alignment: 8) { map in
      map.initializeMemory(as: UInt8.self, repeating: 0)
      map.storeBytes(of: .max, toByteOffset: 8, as: UInt64.self)  // fm_length
      map.storeBytes(of: 1, toByteOffset: 24, as: UInt32.self)  // fm_extent_count
      guard ioctl(file, Self.request, map.baseAddress!) == 0 else { return .unknown }
      let count = map.load(fromByteOffset: 20, as: UInt32.self)  // fm_mapped_extents
      let flags = map.load(fromByteOffset: 32 + 40, as: UInt32.self)  // fe_flags
      guard count > 0, flags & Self.withoutPlace == 0 else { return .none }
      return .byte(map.load(fromByteOffset: 32 + 8, as: UInt64.self))  // fe_physical
    }
    #else
    self = .unknown
    #endif
  }

  #if os(Linux)
  /// FS_IOC_FIEMAP of linux/fs.h, whose other declarations clash with those of sys/mount.h.
  private static let request: UInt = 0xC020_660B
  /// FIEMAP_EXTENT_UNKNOWN, FIEMAP_EXTENT_DELALLOC and FIEMAP_EXTENT_DATA_INLINE.
  private static let withoutPlace: UInt32 = 0x2 | 0x4 | 0x200
  #endif
}
