#if Ledger
import Files
import Foundation
import GRDB
import GRDBSQLite

/// An open SQLite file at any path.
///
/// GRDB takes paths as text, and SQLite takes at most 512 bytes, with all links resolved. Where a path is no UTF-8, or SQLite
/// cannot open it, the file is opened through the descriptor of its folder, as `/proc/self/fd/5/ledger`; so are the files
/// that SQLite makes beside it. That needs `/proc`; other paths do not.
struct OpenFile: Sendable {
  let queue: DatabaseQueue
  /// The folder through which the file was opened, which must stay open as long; nil if that was not needed.
  private let folder: Descriptor?

  /// - Throws: `DatabaseError`
  init(_ file: Path, _ settings: Configuration) throws {
    var failure = DatabaseError(resultCode: .SQLITE_CANTOPEN)
    if let text = String(validating: file.bytes, as: UTF8.self) {
      do {
        (queue, folder) = (try DatabaseQueue(path: text, configuration: settings), nil)
        return
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
        failure = error
      }
    }
    #if os(Linux)
    let name = String(validating: file.lastName.bytes, as: UTF8.self)
    guard let name, DescriptorPaths.areTaken,
      let folder = (try? openFolder(file.parent.isEmpty ? "." : file.parent, in: AT_FDCWD)).map({ Descriptor($0) }),
      case let path = "\(DescriptorPaths.prefix)\(folder.number)", FileStatus.exists(Path(path))
    else { throw failure }
    queue = try DatabaseQueue(path: "\(path)/\(name)", configuration: settings)
    self.folder = folder
    #else
    throw failure
    #endif
  }
}

#if os(Linux)
/// Has SQLite take paths that lead through descriptors as they are. Otherwise it follows the link of the descriptor, and so
/// gets the long path again.
private enum DescriptorPaths {
  static let prefix = "/proc/self/fd/"

  /// Whether SQLite takes them so. It is asked to once.
  static let areTaken: Bool = {
    guard let usual = sqlite3_vfs_find("unix") else { return false }
    // SQLite keeps it.
    let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    own.initialize(to: usual.pointee)
    own.pointee.zName = UnsafePointer(strdup("thumbjob"))
    own.pointee.xFullPathname = { own, path, size, result in
      guard let path, let result else { return SQLITE_CANTOPEN }
      let length = strlen(path)
      if strncmp(path, prefix, prefix.utf8.count) == 0, length < size {
        memcpy(result, path, length + 1)
        return SQLITE_OK
      }
      let usual = sqlite3_vfs_find("unix")
      return usual?.pointee.xFullPathname(usual, path, size, result) ?? SQLITE_CANTOPEN
    }
    return sqlite3_vfs_register(own, 1) == SQLITE_OK
  }()
}
#endif
#endif
