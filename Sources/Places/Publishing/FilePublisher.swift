import Files
import Foundation
import Locking
import Synchronization

/// Puts files in place below an output folder, each whole or not at all. If the process is killed, nothing remains that the
/// next run does not remove.
///
/// Each file is made in the folder where its place is, so that it gets the group and the access rights that the folder gives
/// to new files. It has no name there until it is whole. Some file systems have no files without a name. There a file is made
/// in the folder of the run and then renamed. If that folder would give it other rights, or is on another file system, it is
/// made beside its place, under a name that a note in the run's folder keeps for the next run.
///
/// *Concurrency*: from any thread.
final class FilePublisher: Sendable {
  private let folder: CInt
  private let run: RunFolder
  private let isDurable: Bool
  /// The rights that new files and folders get at most.
  private let (fileMode, folderMode): (mode_t, mode_t)
  /// The number in the name of the last temporary file.
  private let serial = Atomic(0)
  /// Whether the file system is not known to lack files without a name.
  private let hasUnnamedFiles = Atomic(true)
  /// The folder that was asked for last whether it gives new files the rights that the run's folder gives. The thumbnails of
  /// a folder come in a row.
  private let lastAsked = Locked<(folder: Path, isSame: Bool)?>(nil)

  /// - Parameters:
  ///   - folder: the open output folder, which must stay open while this object lives.
  ///   - isDurable: whether the disk must have a file before it counts as published.
  ///   - isPrivate: whether only the user may read the files.
  init(folder: CInt, run: RunFolder, isDurable: Bool, isPrivate: Bool = false) {
    (self.folder, self.run, self.isDurable) = (folder, run, isDurable)
    (fileMode, folderMode) = isPrivate ? (0o600, 0o700) : (0o666, 0o777)
  }

  /// Writes a file and puts it in place. Makes missing folders.
  ///
  /// - Parameters:
  ///   - place: relative to the output folder.
  ///   - replaces: whether a file in the place is replaced. Where the file system cannot refuse that, it is.
  /// - Returns: the status of the file; nil if the place has a file that is not replaced.
  package func publish(
    _ bytes: UnsafeRawBufferPointer, to place: Path, modified: timespec, replaces: Bool
  ) throws(Errno) -> stat? {
    do throws(Errno) {
      var written = try publishUnnamed(bytes, to: place, modified, replaces: replaces)
      if written == nil { written = try publishNamed(bytes, to: place, modified, replaces: replaces) }
      guard isDurable else { return written }
      do throws(Errno) { try Self.syncFolders(from: place.parent, in: folder) } catch {
        unlink(place, in: folder)
        throw error
      }
      return written
    } catch {
      if error == .fileExists, !replaces { return nil }
      throw error
    }
  }

  // MARK: Files without a name

  /// - Returns: nil if the file system cannot do this.
  private func publishUnnamed(
    _ bytes: UnsafeRawBufferPointer, to place: Path, _ modified: timespec, replaces: Bool
  ) throws(Errno) -> stat? {
    guard hasUnnamedFiles.load(ordering: .relaxed) else { return nil }
    let opened = try inFolder(place.parent) { () throws(Errno) in
      try openUnnamedFile(in: place.parent.isEmpty ? "." : place.parent, from: folder, mode: fileMode)
    }
    guard let file = opened.map(Descriptor.init) else {
      hasUnnamedFiles.store(false, ordering: .relaxed)
      return nil
    }
    try fill(file.number, with: bytes, modified: modified, isDurable: isDurable)
    try flush(file.number)
    // Other runs would not know that this one lives.
    if run.isRemoved { throw .noSuchFileOrDirectory }
    do throws(Errno) {
      if replaces {
        try replace(place, with: file)
      } else {
        try inFolder(place.parent) { () throws(Errno) in try link(file, to: place, in: folder) }
      }
    } catch {
      let isUnable = [.notPermitted, .notSupported, .noFunction, .invalidArgument, .improperLink].contains(error)
      if isUnable { hasUnnamedFiles.store(false, ordering: .relaxed) }
      // Its temporary name was taken, or it got none.
      let isTemporary = replaces && (error == .fileExists || error == .noSuchFileOrDirectory)
      if isUnable || isTemporary { return nil }
      throw error
    }
    // Only now, because its names have changed the status time.
    var status = stat()
    if fstat(file.number, &status) == 0 { return status }
    let found = place.withCString { FileStatus.of($0, in: folder, followingLinks: false) }
    return try found.get()
  }

  /// Only a rename replaces, so that the file needs a name first.
  private func replace(_ place: Path, with file: Descriptor) throws(Errno) {
    let name = nextName()
    do throws(Errno) { try link(file, to: name, in: run.descriptor) } catch {
      guard error == .improperLink else { throw error }
      return try publish(to: place, beside: name, replaces: true) { beside throws(Errno) in
        try link(file, to: beside, in: folder)
      }
    }
    try move(name, to: place, replaces: true)
  }

  // MARK: Files with a name

  private func publishNamed(
    _ bytes: UnsafeRawBufferPointer, to place: Path, _ modified: timespec, replaces: Bool
  ) throws(Errno) -> stat {
    let name = nextName()
    var written: stat?
    if try givesRightsOfRun(place.parent) {
      written = try write(
        bytes, to: name, in: run.descriptor, mode: fileMode, modified: modified, isDurable: isDurable)
      do throws(Errno) { try move(name, to: place, replaces: replaces) } catch {
        guard error == .improperLink else { throw error }
        written = nil
      }
    }
    if written == nil {
      try publish(to: place, beside: name, replaces: replaces) { beside throws(Errno) in
        written = try write(bytes, to: beside, in: folder, mode: fileMode, modified: modified, isDurable: isDurable)
      }
    }
    guard let written else { preconditionFailure("one of the two ways has written the file") }
    // The name has changed the status time. If the place has another file already, the state fits none.
    let found = try? place.withCString { FileStatus.of($0, in: folder, followingLinks: false) }.get()
    return found.flatMap { FileIdentity($0) == FileIdentity(written) ? $0 : nil } ?? written
  }

  /// Whether a folder gives new files the group and the access rights that the run's folder gives. Makes it if it is missing.
  private func givesRightsOfRun(_ parent: Path) throws(Errno) -> Bool {
    if let last = lastAsked.withLock({ $0 }), last.folder == parent { return last.isSame }
    let open = try inFolder(parent) { () throws(Errno) in
      Descriptor(try openFolder(parent.isEmpty ? "." : parent, in: folder))
    }
    let isSame = try FolderRights(of: open.number) == FolderRights(of: run.descriptor)
    lastAsked.withLock { $0 = (parent, isSame) }
    return isSame
  }

  /// Gives a file a temporary name beside its place, renames it, and keeps a note meanwhile.
  ///
  /// - Parameters:
  ///   - name: for the note and the temporary name; no other file has it.
  ///   - make: makes the file.
  private func publish(
    to place: Path, beside name: Path, replaces: Bool, _ make: (_ beside: Path) throws(Errno) -> Void
  ) throws(Errno) {
    let beside = place.parent.appending(Path("\(RunFolder.besidePrefix)\(run.name)-\(name)"))
    let note = Path("\(name)\(RunFolder.noteSuffix)")
    let noted = beside.withCString { text in
      Result { () throws(Errno) in
        let bytes = UnsafeRawBufferPointer(start: text, count: beside.length)
        _ = try write(bytes, to: note, in: run.descriptor, modified: timespec())
      }
    }
    try noted.get()
    defer { unlink(note, in: run.descriptor) }
    try make(beside)
    do throws(Errno) {
      try rename(beside, in: folder, to: place, in: folder, replaces: replaces)
    } catch {
      unlink(beside, in: folder)
      throw error
    }
  }

  /// Puts a file of the run's folder in place, or else removes it.
  private func move(_ name: Path, to place: Path, replaces: Bool) throws(Errno) {
    do throws(Errno) {
      try inFolder(place.parent) { () throws(Errno) in
        try rename(name, in: run.descriptor, to: place, in: folder, replaces: replaces)
      }
    } catch {
      unlink(name, in: run.descriptor)
      throw error
    }
  }

  private func nextName() -> Path { Path("\(serial.add(1, ordering: .relaxed).newValue).tmp") }

  // MARK: Folders

  /// Runs `body`, and makes the folder that it needs if that is missing. It does so only after `body` has failed, because most
  /// folders exist. A ``ThumbnailRemover`` may remove the folder again before it has a file, so it tries several times.
  private func inFolder<Result>(_ parent: Path, _ body: () throws(Errno) -> Result) throws(Errno) -> Result {
    for _ in 1...Self.tries {
      do throws(Errno) { return try body() } catch {
        guard error == .noSuchFileOrDirectory else { throw error }
      }
      do throws(Errno) { try makeFolder(parent, in: folder, mode: folderMode) } catch {
        // The folder above it may be gone again, too.
        guard error == .noSuchFileOrDirectory else { throw error }
      }
      if run.isRemoved { break }
    }
    return try body()
  }

  private static let tries = 1000

  /// Waits until the disk has the names in a folder and in those above it, up to `start`: any of them may be new, and
  /// another thread may have made it a moment ago.
  static func syncFolders(from folder: Path, in start: CInt) throws(Errno) {
    var folder = folder
    while true {
      let open = Descriptor(try openFolder(folder.isEmpty ? "." : folder, in: start))
      do throws(Errno) { try syncToDisk(open.number) } catch {
        // Some network file systems cannot do this for folders, and do not need it.
        if error != .invalidArgument { throw error }
      }
      if folder.isEmpty || folder == "/" { return }
      folder = folder.parent
    }
  }
}
