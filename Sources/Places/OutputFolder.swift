import Files
import Foundation
import Locking
import Marks
import Sourcing
import Synchronization

/// A folder of thumbnails. A thumbnail appears in it whole or not at all.
///
/// Besides the thumbnails it contains `.thumbjob/` with the settings of the last run and, for each run, a folder
/// `run-…` that is locked while the run lives. If the run is killed, the next run finds there which of its unfinished files
/// are to be removed; see ``FilePublisher``. Several runs may write to one output folder at once.
///
/// *Concurrency*: every method may be called from any thread.
package final class OutputFolder: Sendable {
  package let path: Path
  /// Whether a source may take the place of another one, whose thumbnail an earlier run made.
  private let isForced: Bool
  package let descriptor: CInt
  /// The folder for temporary files of this run, which a later run removes if this one is killed.
  package let run: RunFolder
  /// The sources that were under way when earlier runs died; nil if none has died.
  package var interrupted: [UnderWay.Interrupted]? { run.interrupted }
  private let isClosed = Atomic(false)
  /// The places that are being written to, with their sources.
  private let underWay = Locked<[Path: SourceKey]>([:])
  /// How many thumbnails with other settings were replaced.
  private let replaced = Atomic(0)
  /// How many thumbnails of other sources, which exist, were replaced.
  private let replacedOthers = Atomic(0)
  private let publisher: FilePublisher

  /// What a place has before a thumbnail is put there.
  private enum Predecessor: Equatable {
    case nothing
    /// A thumbnail of the same source, or of one that is gone.
    case thumbnail(hasSettings: Bool)
    /// The thumbnail of another source, which exists.
    case rival(SourceKey)
    /// The thumbnail of another program, which stays.
    case kept(bytes: Int, FileState)
    /// An empty file.
    case empty
    /// A folder, which cannot be replaced.
    case folder
  }

  /// Makes the folder if it is missing, removes the files of dead runs, and makes a folder for this run.
  ///
  /// - Parameters:
  ///   - isForced: whether a source may take the place of another one, whose thumbnail an earlier run made.
  ///   - isDurable: whether a thumbnail must outlive a crash of the system once it is published. This waits for
  ///     the disk several times for each thumbnail.
  ///   - isPrivate: whether only the user may read what is made.
  ///   - identity: what other runs in the folder are told of this one.
  /// - Throws: ``OutputError`` of kind `cannotCreate` or `ofAnotherUser`.
  package init(
    _ path: Path, isForced: Bool = false, isDurable: Bool = false, isPrivate: Bool = false,
    as identity: RunIdentity = RunIdentity()
  ) throws(OutputError) {
    self.path = path
    self.isForced = isForced
    if isPrivate, geteuid() == 0, let owner = Self.owner(of: path), owner != 0 {
      throw OutputError(.ofAnotherUser(owner), path)
    }
    do throws(Errno) {
      try makeFolder(path, in: AT_FDCWD, mode: isPrivate ? 0o700 : 0o777)
      // Any of the folders above may be new. Those that may not be read were there before.
      if isDurable { try? FilePublisher.syncFolders(from: path.parent, in: AT_FDCWD) }
      descriptor = try openFolder(path, in: AT_FDCWD)
    } catch {
      throw OutputError(.cannotCreate, path, error)
    }
    do throws(Errno) {
      try makeFolder(SourceWalker.workingFolderName, in: descriptor, mode: isPrivate ? 0o700 : 0o777)
      // O_NOFOLLOW: files are removed in this folder, and a link could lead anywhere.
      let working = try openFolder(SourceWalker.workingFolderName, in: descriptor, flags: O_NOFOLLOW)
      defer { Foundation.close(working) }
      run = try RunFolder(in: working, output: descriptor, as: identity)
      publisher = FilePublisher(folder: descriptor, run: run, isDurable: isDurable, isPrivate: isPrivate)
    } catch {
      Foundation.close(descriptor)
      throw OutputError(.cannotCreate, path, error)
    }
  }

  /// The user who owns a folder. If it is missing: who owns the nearest folder above it.
  private static func owner(of folder: Path) -> uid_t? {
    var folder = folder.absolute ?? folder
    while !folder.isEmpty {
      if case .success(let status) = FileStatus.of(folder, followingLinks: true) { return status.st_uid }
      if folder == "/" { break }
      folder = folder.parent
    }
    return nil
  }

  deinit {
    run.remove()
    Foundation.close(descriptor)
  }

  /// A thumbnail that was put in place, or one of another program that was there and stays.
  package struct Published {
    /// The bytes of the file.
    package let bytes: Int
    package let state: FileState
    /// A hash of what it looks like.
    package let looks: UInt64?
    /// The source whose thumbnail was there, although it exists.
    package let replaced: SourceKey?
  }

  /// Adds the mark to a thumbnail and puts it in place. An older thumbnail there is replaced.
  ///
  /// - Parameters:
  ///   - file: the thumbnail without its mark.
  ///   - mark: with the key of its source.
  ///   - described: a comment that follows the mark.
  ///   - entry: what follows for programs that look for the thumbnail.
  ///   - isAmongPhotos: whether other files may have names like thumbnails. Then not even an empty file is replaced: another
  ///     program may be writing it.
  ///   - isForeignKept: whether another program's file with this status stays or is replaced. Nil: such a file is never
  ///     replaced, and the place is refused.
  ///   - isKept: whether a thumbnail with this mark is that of another source, which keeps it.
  /// - Throws: ``OutputError``, leaving no file. The kind is `foreign` if the place has a file that is neither empty
  ///   nor a thumbnail, and `taken` if another source keeps the place.
  package func publish(
    thumbnail file: UnsafeRawBufferPointer, marked mark: ThumbnailMark, described: DescriptionComment? = nil,
    entry: CacheEntry? = nil, to place: Path, modified: timespec, isAmongPhotos: Bool = false,
    isForeignKept: ((stat) -> Bool)? = nil, isKept: (ThumbnailMark) -> Bool
  ) throws(OutputError) -> Published {
    guard let key = mark.source else { preconditionFailure("a thumbnail in a folder names its source") }
    let taken = OutputError(.taken, path.appending(place))
    guard claim(place, for: key) else { throw taken }
    defer { underWay.withLock { $0[place] = nil } }
    let marked = mark.inserted(into: file, followedBy: described, entry)
    let looks = ThumbnailMark.looks(of: marked)
    for _ in 1...Self.claimTries {
      let found = try predecessor(
        of: place, mark, isAmongPhotos: isAmongPhotos, isForeignKept: isForeignKept, isKept)
      if case .kept(let bytes, let state) = found {
        return Published(bytes: bytes, state: state, looks: nil, replaced: nil)
      }
      if case .rival = found, !isForced || isOfThisRun(place) { throw taken }
      let result = marked.withUnsafeBytes { bytes in
        Result { () throws(OutputError) in
          try publish(bytes, to: place, modified: modified, replaces: found != .nothing)
        }
      }
      let state = try result.get()
      // Another source has got the place meanwhile: one under another name that the file system takes for the same, or one
      // of another process.
      guard let state else { continue }
      if case .thumbnail(hasSettings: false) = found { replaced.add(1, ordering: .relaxed) }
      guard case .rival(let rival) = found else {
        return Published(bytes: marked.count, state: state, looks: looks, replaced: nil)
      }
      replacedOthers.add(1, ordering: .relaxed)
      return Published(bytes: marked.count, state: state, looks: looks, replaced: rival)
    }
    throw taken
  }

  /// Claims a place until the caller takes it out of ``underWay``.
  ///
  /// - Returns: false if another source has claimed it.
  private func claim(_ place: Path, for key: SourceKey) -> Bool {
    underWay.withLock { underWay in
      if let rival = underWay[place], rival != key { return false }
      underWay[place] = key
      return true
    }
  }

  /// How often a place is looked at again, because it has got a file meanwhile.
  private static let claimTries = 10

  /// Gives the thumbnail in a place another mark and another time.
  ///
  /// - Parameter status: of the thumbnail. If it has changed since, nothing is done.
  /// - Returns: its state; nil if that fails.
  func renew(_ place: Path, _ mark: ThumbnailMark, _ status: stat, modified: timespec) -> FileState? {
    guard let marked = read(place, status, marked: mark), let key = mark.source, claim(place, for: key) else {
      return nil
    }
    defer { underWay.withLock { $0[place] = nil } }
    guard isUnchanged(place, status) else { return nil }
    return marked.withUnsafeBytes { try? publish($0, to: place, modified: modified, replaces: true) }
  }

  /// Puts a copy of the thumbnail in a place, with another mark and another time, in a place where nothing is.
  ///
  /// - Parameter status: of the thumbnail.
  /// - Returns: the state of the copy; nil if that fails.
  func copy(_ place: Path, _ status: stat, to other: Path, _ mark: ThumbnailMark, modified: timespec) -> FileState? {
    guard let marked = read(place, status, marked: mark), let key = mark.source, claim(other, for: key) else {
      return nil
    }
    defer { underWay.withLock { $0[other] = nil } }
    guard isUnchanged(place, status) else { return nil }
    return marked.withUnsafeBytes { try? publish($0, to: other, modified: modified, replaces: false) }
  }

  /// The bytes of the thumbnail in a place, with another mark; nil if it has changed, is very large, or cannot be read.
  private func read(_ place: Path, _ status: stat, marked mark: ThumbnailMark) -> [UInt8]? {
    guard status.st_size < Self.largestRenewed,
      let bytes = readFile(place, in: descriptor, limit: Self.largestRenewed), bytes.count == Int(status.st_size)
    else { return nil }
    return mark.replaced(in: bytes)
  }

  /// A hash of what the thumbnail in a place looks like; nil if there is none, or a very large one.
  func looks(of place: Path) -> UInt64? {
    readFile(place, in: descriptor, limit: Self.largestRenewed).flatMap { ThumbnailMark.looks(of: $0) }
  }

  private func isUnchanged(_ place: Path, _ status: stat) -> Bool {
    let now = try? place.withCString { FileStatus.of($0, in: descriptor, followingLinks: false) }.get()
    return now.map { FileState($0) == FileState(status) } ?? false
  }

  /// Larger thumbnails are made again instead.
  private static let largestRenewed = 1 << 24

  /// Writes a file and puts it in place atomically. It replaces any file there.
  ///
  /// - Parameter place: relative to this folder. Missing folders are made.
  /// - Parameter modified: the modification time for the file. It is that of the source, so that a later run sees
  ///   whether the source has changed.
  /// - Throws: ``OutputError``, leaving no file.
  package func publish(_ bytes: UnsafeRawBufferPointer, to place: Path, modified: timespec) throws(OutputError) {
    _ = try publish(bytes, to: place, modified: modified, replaces: true)
  }

  /// - Parameter replaces: whether a file in the place is replaced. Where the file system cannot refuse that, it is.
  /// - Returns: the state of the file; nil if the place has a file that is not replaced.
  private func publish(
    _ bytes: UnsafeRawBufferPointer, to place: Path, modified: timespec, replaces: Bool
  ) throws(OutputError) -> FileState? {
    let shown = path.appending(place)
    if isClosed.load(ordering: .acquiring) { throw OutputError(.closed, shown) }
    do throws(Errno) {
      return try publisher.publish(bytes, to: place, modified: modified, replaces: replaces).map(FileState.init)
    } catch {
      // close() has removed the run's folder during the write.
      if isClosed.load(ordering: .acquiring) { throw OutputError(.closed, shown) }
      if error == .noSuchFileOrDirectory, isRemoved { throw OutputError(.removed, path) }
      throw OutputError(writing: shown, error)
    }
  }

  package func publish(_ bytes: [UInt8], to place: Path, modified: timespec) throws(OutputError) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(OutputError) in try publish(bytes, to: place, modified: modified) }
    }
    try result.get()
  }

  /// Removes the unfinished files of this run. Nothing can be published afterwards.
  ///
  /// It does not wait, so a thread that is about to end the process may call it while other threads write. Their unfinished files are removed too, and their next writes fail. Further calls do nothing.
  package func close() {
    isClosed.store(true, ordering: .releasing)
    run.remove()
  }

  /// Whether this folder, or that of the run in it, has no name any more.
  private var isRemoved: Bool { run.isRemoved || isNameless(descriptor) }

  /// How many thumbnails with other settings this run has replaced.
  package var replacedCount: Int { replaced.load(ordering: .relaxed) }

  /// How many thumbnails of other sources, which exist, this run has replaced.
  package var replacedOthersCount: Int { replacedOthers.load(ordering: .relaxed) }

  /// What a place has.
  ///
  /// - Throws: why the place cannot be written to.
  private func predecessor(
    of place: Path, _ wanted: ThumbnailMark, isAmongPhotos: Bool, isForeignKept: ((stat) -> Bool)?,
    _ isKept: (ThumbnailMark) -> Bool
  ) throws(OutputError) -> Predecessor {
    let found = place.withCString { FileStatus.of($0, in: descriptor, followingLinks: false) }
    guard case .success(let status) = found else { return .nothing }
    // The rename reports it.
    if status.kind == .folder { return .folder }
    // An empty file is no original where only thumbnails are.
    if status.st_size == 0, !isAmongPhotos, status.kind == .regular { return .empty }
    let isReplaced = isForeignKept != nil
    if status.kind == .link, isReplaced { return .thumbnail(hasSettings: false) }
    guard status.kind == .regular else { throw OutputError(.foreign, path.appending(place)) }
    let mark: ThumbnailMark?
    do throws(Errno) { mark = try ThumbnailMark.read(place, in: descriptor) } catch {
      // Some file systems replace a file in two steps.
      if error == .noSuchFileOrDirectory { return .nothing }
      // Such a place is for thumbnails only, so the file is no original.
      if error == .permissionDenied, isReplaced { return .thumbnail(hasSettings: false) }
      // What cannot be read may be an original, and is not overwritten.
      throw OutputError(.unreadable, path.appending(place), error)
    }
    guard let there = mark else {
      guard let isForeignKept else { throw OutputError(.foreign, path.appending(place)) }
      return isForeignKept(status)
        ? .kept(bytes: Int(status.st_size), FileState(status)) : .thumbnail(hasSettings: false)
    }
    guard isKept(there) else { return .thumbnail(hasSettings: there.hasSettings(of: wanted)) }
    guard let rival = there.source else { throw OutputError(.taken, path.appending(place)) }
    return .rival(rival)
  }

  /// Whether the file in a place was made since this run began. Where the file system does not keep when a file was made, its
  /// last change counts.
  private func isOfThisRun(_ place: Path) -> Bool {
    guard let made = place.withCString({ FileStatus.birth(of: $0, in: descriptor) }) else { return false }
    return !isBefore(made, run.began)
  }
}
