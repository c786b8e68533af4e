import Files
import Foundation

/// A temporary folder for what a run needs on this machine while its thumbnails go to a bucket. It is removed with the object;
/// if the process is killed, the next one removes it.
///
/// Its parent belongs to this user alone: in a folder that all users share, anyone could lock it or add files to it.
package final class WorkFolder: Sendable {
  private static let kind = LockedFolder.Kind(prefix: "run-", permissions: 0o700, passes: 100)

  package let path: Path
  private let folder: LockedFolder

  /// Makes the folder where `TMPDIR` says, or else in `/tmp`.
  ///
  /// - Throws: ``OutputError``
  package init() throws(OutputError) {
    let temporary = Path(ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
    let parent = temporary.appending(Path("thumbjob-\(geteuid())"))
    do throws(Errno) {
      if parent.withCString({ mkdir($0, 0o700) }) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
      let open = Descriptor(try openFolder(parent, in: AT_FDCWD, flags: O_NOFOLLOW))
      var status = stat()
      if fstat(open.number, &status) != 0 { throw Errno(rawValue: errno) }
      guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { throw .permissionDenied }
      do throws(LockedFolderError) { folder = try LockedFolder(in: open.number, Self.kind) } catch { throw error.error }
    } catch {
      throw OutputError(.noWorkFolder, parent, error)
    }
    path = parent.appending(folder.name)
  }

  deinit { remove() }

  /// Removes the folder. It does not wait, so that a thread that is about to end the process can call it.
  package func remove() { folder.remove() }
}
