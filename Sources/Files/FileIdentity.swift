import Foundation
import SystemPackage

/// Which file it is, whatever it is called: device and inode number. Two paths with the same identity are one file.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64

  package init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// The identity of what `path` leads to, links followed; nil when it leads nowhere.
  package init?(of path: Path) {
    guard let status = try? FileStatus.of(path, followingLinks: true).get() else { return nil }
    self.init(status)
  }
}

/// `stat(2)` without exceptions: the error number is what the callers tell apart.
package enum FileStatus {
  /// The status of a path from the working folder.
  package static func of(_ path: Path, followingLinks: Bool) -> Result<stat, Errno> {
    path.withCString { of($0, in: AT_FDCWD, followingLinks: followingLinks) }
  }

  /// The status of a name.
  ///
  /// - Parameter folder: what a relative `name` starts from: an open folder or `AT_FDCWD`.
  package static func of(_ name: UnsafePointer<CChar>, in folder: CInt, followingLinks: Bool) -> Result<stat, Errno> {
    var status = stat()
    let flags = followingLinks ? 0 : AT_SYMLINK_NOFOLLOW
    guard fstatat(folder, name, &status, flags) == 0 else { return .failure(Errno(rawValue: errno)) }
    return .success(status)
  }
}

extension stat {
  /// What kind of file it is, as far as a walk cares.
  package enum Kind { case regular, folder, link, special }

  /// What its mode says.
  package var kind: Kind {
    switch st_mode & S_IFMT {
    case S_IFREG: .regular
    case S_IFDIR: .folder
    case S_IFLNK: .link
    default: .special
    }
  }

  /// Time of the last change of the contents.
  package var modified: timespec {
    #if os(Linux)
      st_mtim
    #else
      st_mtimespec
    #endif
  }

  /// Time of the last change of anything: contents, name, owner. No program can set it back.
  package var changed: timespec {
    #if os(Linux)
      st_ctim
    #else
      st_ctimespec
    #endif
  }
}

/// True when `a` is before `b`.
package func isBefore(_ a: timespec, _ b: timespec) -> Bool { (a.tv_sec, a.tv_nsec) < (b.tv_sec, b.tv_nsec) }

/// True when both are the same nanosecond.
package func isSameTime(_ a: timespec, _ b: timespec) -> Bool { a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec }

/// Whether `copy` is `time` as a file system keeps it that has a coarser grain: 100 ns, a microsecond, 10 ms, a second,
/// or two.
package func isSameTime(_ copy: timespec, asKept time: timespec) -> Bool {
  if copy.tv_nsec == 0, copy.tv_sec == time.tv_sec & ~1 { return true }
  guard copy.tv_sec == time.tv_sec else { return false }
  return [1, 100, 1_000, 10_000_000, 1_000_000_000].contains { copy.tv_nsec == time.tv_nsec / $0 * $0 }
}
