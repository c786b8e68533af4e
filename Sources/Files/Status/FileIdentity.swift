import Foundation

#if os(Linux)
import CLinux
#endif

/// Identifies a file by device and inode number. Two paths with the same identity are the same file.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64

  package init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// The identity of the file at `path`, with links followed; nil if there is none.
  package init?(of path: Path) {
    guard let status = try? FileStatus.of(path, followingLinks: true).get() else { return nil }
    self.init(status)
  }
}

/// `stat(2)` with the error as a result, because callers distinguish errors.
package enum FileStatus {
  /// The status of a path, relative to the working folder.
  package static func of(_ path: Path, followingLinks: Bool) -> Result<stat, Errno> {
    path.withCString { of($0, in: AT_FDCWD, followingLinks: followingLinks) }
  }

  /// The status of a path.
  ///
  /// - Parameter folder: the open folder that a relative path starts from, or `AT_FDCWD`.
  package static func of(_ name: UnsafePointer<CChar>, in folder: CInt, followingLinks: Bool) -> Result<stat, Errno> {
    var status = stat()
    let flags = followingLinks ? 0 : AT_SYMLINK_NOFOLLOW
    guard fstatat(folder, name, &status, flags) == 0 else { return .failure(Errno(rawValue: errno)) }
    return .success(status)
  }

  /// When the file with this name was made; where the file system does not keep that, when it was last changed in any way.
  /// Nil if there is no such file. Links are not followed.
  package static func birth(of name: UnsafePointer<CChar>, in folder: CInt) -> timespec? {
    #if os(Linux)
    var found = statx()
    let wanted = UInt32(STATX_BTIME | STATX_CTIME)
    if statx(folder, name, AT_SYMLINK_NOFOLLOW, wanted, &found) == 0 {
      let time = found.stx_mask & UInt32(STATX_BTIME) != 0 ? found.stx_btime : found.stx_ctime
      return timespec(tv_sec: Int(time.tv_sec), tv_nsec: Int(time.tv_nsec))
    }
    #endif
    return try? of(name, in: folder, followingLinks: false).get().changed
  }

  /// Whether there is a regular file at `path`.
  package static func isRegular(_ path: Path, followingLinks: Bool) -> Bool {
    (try? of(path, followingLinks: followingLinks).get())?.kind == .regular
  }

  /// Whether there is a file at `path`, with links followed. True also if the system cannot tell: opening the file then
  /// gives the error.
  package static func exists(_ path: Path) -> Bool {
    switch of(path, followingLinks: true) {
    case .success: true
    case .failure(let error): error != .noSuchFileOrDirectory && error != .notDirectory
    }
  }
}

extension stat {
  /// The kinds of file that a walk distinguishes.
  package enum Kind { case regular, folder, link, special }

  /// The kind of file, from its mode.
  package var kind: Kind {
    switch st_mode & S_IFMT {
    case S_IFREG: .regular
    case S_IFDIR: .folder
    case S_IFLNK: .link
    default: .special
    }
  }

  /// The time of the last change of the contents.
  package var modified: timespec {
    #if os(Linux)
    st_mtim
    #else
    st_mtimespec
    #endif
  }

  /// The time of the last read.
  package var accessed: timespec {
    #if os(Linux)
    st_atim
    #else
    st_atimespec
    #endif
  }

  /// The time of the last change of contents, name, owner or mode. No program can set it back.
  package var changed: timespec {
    #if os(Linux)
    st_ctim
    #else
    st_ctimespec
    #endif
  }
}
