import Files
import Foundation
import JobSettings
import Ledger
import Places
import Sourcing

/// The place of a list of checksums: its folder, and the working folder `.thumbjob` beside it, which has its ledger.
///
/// *Concurrency*: immutable.
struct ChecksumPlace: Sendable {
  let file: Path
  /// The absolute folder of the file, from which the ledger's paths lead.
  let folder: Path
  /// The working folder, which is never walked.
  let working: Path
  /// The file that was there at the beginning.
  private let former: FileIdentity?
  private let folderIdentity: FileIdentity?
  /// The beginning of the names of this list and of those of other shares.
  private let name: Path

  /// Checks that the list can be made, and makes the working folder.
  ///
  /// - Parameters:
  ///   - settings: with a list of checksums.
  ///   - isRead: whether nothing is made.
  /// - Throws: ``OutputError``: of kind `notJoin` if another file or a folder is in the place of the list.
  init(_ settings: ChecksumSettings, _ shard: Shard?, isRead: Bool) throws(OutputError) {
    guard let file = settings.file(for: shard), let name = settings.file?.lastName else {
      preconditionFailure("the job makes no list of checksums")
    }
    let parent: Path = file.parent.isEmpty ? "." : file.parent
    (self.file, self.name) = (file, name)
    folder = parent.absolute ?? parent
    working = parent.appending(SourceWalker.workingFolderName)
    if !isRead {
      if (try? FileStatus.of(file, followingLinks: true).get())?.kind == .folder {
        throw OutputError(.notJoin(.checksums), file)
      }
      _ = try JoinFile(file, kind: .checksums)
      do throws(Errno) { try makeFolder(working, in: AT_FDCWD) } catch { throw OutputError(writing: working, error) }
    }
    (former, folderIdentity) = (FileIdentity(of: file), FileIdentity(of: parent))
  }

  /// The file of the ledger. Its name is that of the list, so that several lists of one folder do not meet; none is the name of
  /// a ledger of thumbnails.
  var ledger: Path {
    // The ledger is opened by name, which must be text, and files beside it have longer ones.
    let bytes = file.lastName.bytes
    let isUsable = bytes.count <= 200 && String(validating: bytes, as: UTF8.self) != nil
    let name = isUsable ? Array(bytes) : Fingerprint(of: bytes).digits
    return working.appending(Path(bytes: name + Array(".ledger".utf8)) ?? "list.ledger")
  }

  /// Whether a source is this list, or that of another share. Neither is ever a source.
  func isList(_ source: Path, _ status: stat) -> Bool {
    if former == FileIdentity(status) { return true }
    guard isName(source.lastName) else { return false }
    return FileIdentity(of: source.parent.isEmpty ? "." : source.parent) == folderIdentity
  }

  private func isName(_ other: Path) -> Bool {
    guard other.bytes.starts(with: name.bytes) else { return false }
    let rest = String(decoding: other.bytes.dropFirst(name.length), as: UTF8.self)
    return rest.isEmpty || rest.first == "." && Ledger.isPart(rest.dropFirst())
  }

  /// A file without a name beside the list.
  func createUnnamedFile() throws(Errno) -> Descriptor {
    let descriptor = Descriptor(try openFolder(working, in: AT_FDCWD))
    return Descriptor(try Files.createUnnamedFile(in: descriptor.number))
  }
}
