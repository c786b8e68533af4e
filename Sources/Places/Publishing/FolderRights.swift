import Files
import Foundation

#if os(Linux)
import CLinux
#endif

/// What a folder gives to the files that are made in it.
///
/// *Source*: inode(7), acl(5).
struct FolderRights: Equatable {
  private let group: gid_t
  private let keepsGroup: Bool
  /// The default access control list, as the system has it; empty if there is none.
  private let accessList: [UInt8]

  /// - Parameter folder: an open folder.
  init(of folder: CInt) throws(Errno) {
    var status = stat()
    if fstat(folder, &status) != 0 { throw Errno(rawValue: errno) }
    (group, keepsGroup) = (status.st_gid, status.st_mode & S_ISGID != 0)
    #if os(Linux)
    var bytes = [UInt8](repeating: 0, count: Self.largestList)
    let count = fgetxattr(folder, "system.posix_acl_default", &bytes, bytes.count)
    accessList = Array(bytes.prefix(max(0, count)))
    #else
    accessList = []
    #endif
  }

  /// XATTR_SIZE_MAX of Linux.
  private static let largestList = 1 << 16
}
