import Files
import Foundation
import SystemPackage

/// A temporary folder for what a run needs on this machine while its thumbnails go to a bucket. It is removed with the object;
/// if the process is killed, the next one removes it.
final class WorkFolder: Sendable {
  private static let kind = LockedFolder.Kind(prefix: "thumbjob-work-", permissions: 0o700, passes: 100)

  let path: Path
  private let folder: LockedFolder

  /// Makes the folder where `TMPDIR` says, or else in `/tmp`.
  ///
  /// - Throws: ``OutputError``
  init() throws(OutputError) {
    let parent = Path(ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
    do throws(Errno) {
      let open = Descriptor(try openFolder(parent, in: AT_FDCWD))
      do throws(LockedFolderError) { folder = try LockedFolder(in: open.number, Self.kind) } catch { throw error.error }
    } catch {
      throw OutputError(.noWorkFolder, parent, error)
    }
    path = parent.appending(folder.name)
  }

  deinit { remove() }

  /// Removes the folder. It takes no lock, so that a thread that is about to end the process can call it.
  func remove() { folder.remove() }
}
