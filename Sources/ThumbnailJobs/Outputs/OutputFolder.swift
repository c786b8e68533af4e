import Files
import Foundation
import Locking
import Synchronization
import SystemPackage

/// The folder that thumbnails are written to. A file appears in it whole or not at all.
///
/// Beside the thumbnails it holds `.thumbjob/`: per run a folder `run-…` for what is being written, locked for as long
/// as the run lives, and the settings of the last run. Files are written in the run's folder and renamed
/// into place, so a kill at any moment leaves litter in one known folder only, which the next run sweeps. Several runs
/// may write in one output folder at once.
///
/// *Concurrency*: every method may be called from any thread.
public final class OutputFolder: Sendable {
  public let path: Path
  let descriptor: CInt
  private let run: RunFolder
  private let isClosed = Atomic(false)
  /// Places being written to, and the time of change of the source. Guarded by its lock.
  private let underWay = Locked<[Path: timespec]>([:])
  /// Makes the names of temporary files.
  private let serial = Atomic(0)

  /// Makes the folder where it is missing, sweeps what dead runs left in it, and takes a folder for this run.
  ///
  /// - Throws: `OutputError` of kind `cannotCreate`.
  public init(_ path: Path) throws(OutputError) {
    self.path = path
    do throws(Errno) {
      try Self.makeFolder(path, in: AT_FDCWD)
      descriptor = try openFolder(path, in: AT_FDCWD)
    } catch {
      throw OutputError(.cannotCreate, path, error)
    }
    do throws(Errno) {
      try Self.makeFolder(SourceWalker.workingFolderName, in: descriptor)
      // Not through a link: what runs have left is removed from there.
      let working = try openFolder(SourceWalker.workingFolderName, in: descriptor, flags: O_NOFOLLOW)
      defer { Foundation.close(working) }
      run = try RunFolder(in: working, output: descriptor)
    } catch {
      Foundation.close(descriptor)
      throw OutputError(.cannotCreate, path, error)
    }
  }

  /// True when there is nothing in it, or below `folder` in it, but the working folder.
  func isEmpty(below folder: Path?) -> Bool {
    switch OpenFolder.open(folder ?? ".", in: descriptor) {
    case .failure(let error): return error == .noSuchFileOrDirectory
    case .success(let open): return isEmpty(open)
    }
  }

  private func isEmpty(_ open: OpenFolder) -> Bool {
    while case .success(let entry?) = open.next() {
      if entry.name != SourceWalker.workingFolderName { return false }
    }
    return true
  }

  deinit {
    run.remove()
    Foundation.close(descriptor)
  }

  /// Puts a thumbnail in place, marked, over what was there, if that was a thumbnail too.
  ///
  /// - Parameter jpeg: the thumbnail, without the mark.
  /// - Returns: bytes written.
  /// - Throws: `OutputError`; nothing is left behind. Of kind `foreign` when a file is there that is no thumbnail. Of kind
  ///   `taken` when this run has put another source's thumbnail there: known from the time of that source, because all
  ///   the places of a run would be too many to remember.
  @discardableResult
  public func publish(
    thumbnail jpeg: UnsafeRawBufferPointer, marked mark: ThumbnailMark, to place: Path, modified: timespec
  ) throws(OutputError) -> Int {
    if let problem = begin(place, modified) { throw OutputError(problem, path.appending(place)) }
    defer { underWay.withLock { $0[place] = nil } }
    let marked = mark.inserted(into: jpeg)
    try publish(marked, to: place, modified: modified)
    return marked.count
  }

  /// Writes a file and puts it in place at once, over what was there.
  ///
  /// - Parameter place: relative to this folder, from `OutputPlan` and a size's name; missing folders are made.
  /// - Parameter modified: the source's own time of change, which marks the thumbnail as made from that state of it.
  /// - Throws: `OutputError`; nothing is left behind.
  public func publish(_ bytes: UnsafeRawBufferPointer, to place: Path, modified: timespec) throws(OutputError) {
    let shown = path.appending(place)
    if isClosed.load(ordering: .acquiring) { throw OutputError(.closed, shown) }
    let name = Path("\(serial.add(1, ordering: .relaxed).newValue).tmp")
    do throws(Errno) {
      try write(bytes, to: name, in: run.descriptor, modified: modified)
      do throws(Errno) {
        try move(name, to: place)
      } catch {
        unlink(name, in: run.descriptor)
        guard error == .improperLink else { throw error }
        try publishAcrossDevices(bytes, to: place, name: name, modified: modified)
      }
    } catch {
      // A run folder taken away under a writer means that the run was given up.
      if isClosed.load(ordering: .acquiring) { throw OutputError(.closed, shown) }
      throw OutputError(writing: shown, error)
    }
  }

  public func publish(_ bytes: [UInt8], to place: Path, modified: timespec) throws(OutputError) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(OutputError) in try publish(bytes, to: place, modified: modified) }
    }
    try result.get()
  }

  /// Removes what this run has in the working folder. Nothing can be published afterwards.
  ///
  /// Takes no lock and waits for nobody, so the thread that ends the process at once may call it while others write:
  /// what they have under way is removed too, and what they start fails. Calling it again does nothing.
  public func close() {
    isClosed.store(true, ordering: .releasing)
    run.remove()
  }

  /// The place's folder is on another file system (a mount, a link): rename cannot reach it from here. The temporary
  /// goes beside the target; a note of it in the run's folder lets any sweep find it.
  private func publishAcrossDevices(
    _ bytes: UnsafeRawBufferPointer, to place: Path, name: Path, modified: timespec
  ) throws(Errno) {
    let beside = place.parent.appending(Path("\(RunFolder.besidePrefix)\(run.name)-\(name)"))
    let note = Path("\(name)\(RunFolder.noteSuffix)")
    let noted = beside.withCString { text in
      Result { () throws(Errno) in
        let bytes = UnsafeRawBufferPointer(start: text, count: beside.length)
        try write(bytes, to: note, in: run.descriptor, modified: modified)
      }
    }
    try noted.get()
    defer { unlink(note, in: run.descriptor) }
    try write(bytes, to: beside, in: descriptor, modified: modified)
    do throws(Errno) {
      try rename(beside, in: descriptor, to: place, in: descriptor)
    } catch {
      unlink(beside, in: descriptor)
      throw error
    }
  }

  /// Takes a place to write to; what speaks against it otherwise.
  private func begin(_ place: Path, _ modified: timespec) -> OutputError.Kind? {
    let begun = underWay.withLock { underWay in
      if let rival = underWay[place], !isSameTime(rival, modified) { return false }
      underWay[place] = modified
      return true
    }
    guard begun else { return .taken }
    let found = place.withCString { FileStatus.of($0, in: descriptor, followingLinks: false) }
    // A folder says so itself when it is to be replaced.
    guard case .success(let status) = found, status.kind != .folder, status.st_size > 0 else { return nil }
    let problem: OutputError.Kind?
    if status.kind != .regular || ThumbnailMark(of: place, in: descriptor) == nil {
      problem = .foreign
    } else if isBefore(run.began, status.changed), !isSameTime(status.modified, modified) {
      problem = .taken
    } else {
      problem = nil
    }
    if problem != nil { underWay.withLock { $0[place] = nil } }
    return problem
  }

  /// Renames first and makes folders only when one is missing: in a mirrored tree it mostly is there.
  private func move(_ name: Path, to place: Path) throws(Errno) {
    do throws(Errno) {
      try rename(name, in: run.descriptor, to: place, in: descriptor)
    } catch {
      guard error == .noSuchFileOrDirectory else { throw error }
      try Self.makeFolder(place.parent, in: descriptor)
      try rename(name, in: run.descriptor, to: place, in: descriptor)
    }
  }

  /// `mkdir -p`. From the deepest up, so that an existing tree costs one call.
  static func makeFolder(_ path: Path, in folder: CInt) throws(Errno) {
    func make() -> Errno? { path.withCString { mkdirat(folder, $0, 0o777) == 0 ? nil : Errno(rawValue: errno) } }
    if path.isEmpty { return }
    var result = make()
    if result == .noSuchFileOrDirectory, !path.parent.isEmpty, path.parent != path {
      try makeFolder(path.parent, in: folder)
      // Once more and not again: a parent that is there may still not be one to make folders in.
      result = make()
    }
    switch result {
    case nil: return
    case let error?:
      // Whatever mkdir says, all is well when the folder is there: a read-only disk, a link to a folder, another run.
      let status = path.withCString { FileStatus.of($0, in: folder, followingLinks: true) }
      if case .success(let status) = status, status.kind == .folder { return }
      throw error
    }
  }
}
