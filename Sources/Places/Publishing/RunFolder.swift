import Files
import Foundation
import Locking

/// The folder `.thumbjob/run-…` for the unfinished files of one run. `LockedFolder` keeps it locked while the run
/// lives.
package final class RunFolder: Sendable {
  /// The prefix of temporary files outside the run's folder; see ``FilePublisher``.
  static let besidePrefix = ".thumbjob-"
  /// The suffix of notes. A note contains the path of a temporary file outside the run's folder, relative to the output
  /// folder.
  static let noteSuffix = ".note"

  private let folder: LockedFolder
  private let found: InterruptedSources
  /// The time when the run began, by the clock of the file system.
  package let began: timespec

  /// The sources that were under way when dead runs died, as far as their folders were found; nil if no run has died.
  package var interrupted: [UnderWay.Interrupted]? { found.all.withLock { $0 } }

  /// The runs of other processes that worked on the output folder when this one began.
  package var others: [RunIdentity] { folder.others.map { RunIdentity(reading: $0.about) } }

  /// Those of the ``others`` that have not ended.
  package func othersAlive() -> [RunIdentity] { folder.othersAlive().map { RunIdentity(reading: $0.about) } }

  package var name: Path { folder.name }
  package var descriptor: CInt { folder.descriptor }

  /// Whether the folder has no name any more.
  var isRemoved: Bool { isNameless(descriptor) }

  /// Removes the folders of dead runs and makes one for this run.
  ///
  /// - Parameters:
  ///   - working: the open folder `.thumbjob`.
  ///   - output: the open folder that contains it. It must stay open while this object lives.
  ///   - identity: what other runs are told of this one.
  /// - Throws: an error such as `notSupported` if files cannot be locked, because then every run would take the others
  ///   for dead.
  init(in working: CInt, output: CInt, as identity: RunIdentity) throws(Errno) {
    // There is no pause between the passes, because a run that is ending must not wait for threads that still write.
    let interrupted = InterruptedSources()
    let kind = LockedFolder.Kind(
      prefix: "run-", permissions: 0o777, lockName: "lock", about: identity.bytes, passes: 1000
    ) { entry, folder in
      if let found = UnderWay.read(entry, in: folder) { interrupted.all.withLock { $0 = ($0 ?? []) + found } }
      guard entry.bytes.suffix(RunFolder.noteSuffix.utf8.count).elementsEqual(RunFolder.noteSuffix.utf8) else { return }
      RunFolder.removeBeside(note: entry, in: folder, output: output)
    }
    do throws(LockedFolderError) { folder = try LockedFolder(in: working, kind) } catch { throw error.error }
    found = interrupted
    var status = stat()
    if fstat(folder.descriptor, &status) != 0 { throw Errno(rawValue: errno) }
    began = status.changed
  }

  /// Creates a file without a name. Its descriptor is good until ``remove()``.
  package func createUnnamedFile() throws(Errno) -> Descriptor {
    let file = Descriptor(try Files.createUnnamedFile(in: descriptor))
    folder.keep(file)
    return file
  }

  /// Makes the list of the sources under way, which is open until ``remove()``; nil if that fails.
  ///
  /// - Parameters:
  ///   - output: the absolute path of the output folder.
  ///   - part: the part of the sources that the run makes, as text without slashes; nil for all.
  package func makeUnderWay(output: Path, part: String?) -> UnderWay? {
    let list = UnderWay(in: descriptor, output: output, part: part)
    if let list { folder.keep(list.file) }
    return list
  }

  /// Removes the folder with its files, and the temporary files that its notes name.
  package func remove() { folder.remove() }

  /// Removes the file that a note names, but only if a run could have given it that name: anyone may have written the
  /// note.
  private static func removeBeside(note: Path, in folder: CInt, output: CInt) {
    guard let bytes = readFile(note, in: folder, limit: 1 << 14), !bytes.isEmpty,
      let path = Path(bytes: bytes), !path.isAbsolute, path.normalized == path,
      path.lastName.bytes.starts(with: besidePrefix.utf8), path.lastName.bytes.suffix(4).elementsEqual(".tmp".utf8)
    else { return }
    unlink(path, in: output)
  }
}

/// The sources that were under way when dead runs died; nil as long as none was found.
///
/// *Concurrency*: from any thread.
private final class InterruptedSources: Sendable {
  let all = Locked<[UnderWay.Interrupted]?>(nil)
}
