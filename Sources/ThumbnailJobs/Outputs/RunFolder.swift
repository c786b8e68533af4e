import Files
import Foundation
import SystemPackage

/// Where one run keeps what it is writing: `.thumbjob/run-…`, locked while the run lives.
///
/// `LockedFolder` tells a live run from one that was killed.
final class RunFolder: Sendable {
  /// Temporaries outside the run's folder start with this; see `OutputFolder.publishAcrossDevices`.
  static let besidePrefix = ".thumbjob-"
  /// Files whose contents are the path, from the output folder, of a temporary outside the run's folder.
  static let noteSuffix = ".note"

  private let folder: LockedFolder
  /// When the run began, by the clock of the file system.
  let began: timespec

  var name: Path { folder.name }
  var descriptor: CInt { folder.descriptor }

  /// Removes the folders of runs that live no more, and takes one for this run.
  ///
  /// - Parameter working: the open folder `.thumbjob`.
  /// - Parameter output: the open folder that it is in. It stays open for as long as this object lives.
  /// - Throws: `notSupported` and the like where files cannot be locked: every run would think that the others are dead.
  init(in working: CInt, output: CInt) throws(Errno) {
    // Removing waits for nothing: a run that is told to end at once does not outlast what still writes.
    let kind = LockedFolder.Kind(prefix: "run-", permissions: 0o777, lockName: "lock", passes: 1000) { entry, folder in
      guard entry.bytes.suffix(RunFolder.noteSuffix.utf8.count).elementsEqual(RunFolder.noteSuffix.utf8) else { return }
      RunFolder.removeBeside(note: entry, in: folder, output: output)
    }
    do throws(LockedFolderError) { folder = try LockedFolder(in: working, kind) } catch { throw error.error }
    var status = stat()
    if fstat(folder.descriptor, &status) != 0 { throw Errno(rawValue: errno) }
    began = status.changed
  }

  /// Removes the folder with what is in it, and the temporaries that its notes name.
  func remove() { folder.remove() }

  /// Follows a note, but only to a name that a run gives: a note is a file, and anyone may have written it.
  private static func removeBeside(note: Path, in folder: CInt, output: CInt) {
    let file = note.withCString { openat(folder, $0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard file >= 0 else { return }
    defer { close(file) }
    guard let bytes = try? readAll(from: file, limit: 1 << 14), !bytes.isEmpty,
      let path = Path(bytes: bytes), !path.isAbsolute, path.normalized == path,
      path.lastName.bytes.starts(with: besidePrefix.utf8), path.lastName.bytes.suffix(4).elementsEqual(".tmp".utf8)
    else { return }
    unlink(path, in: output)
  }
}
