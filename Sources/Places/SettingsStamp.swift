import Files
import Foundation
import JobSettings
import Marks
import Sourcing
import Thumbnails

/// Determines which thumbnails of an output folder are up to date.
///
/// A thumbnail is up to date if it is a file that is not empty, has the modification time of its source, and its mark names
/// this source, its contents and the present settings. Where the ledger remembers that very file as the thumbnail of that
/// very source, the mark need not be read (``JobLedger``).
///
/// The file `.thumbjob/settings` has the settings of the last run, with several sizes a file `settings-NAME` for each, and in
/// formats other than JPEG `settings+webp` or `settings-NAME+webp`. It only tells a later run what is in the folder
/// (``EarlierRuns``).
///
/// *Complexity*: reads the first bytes of the thumbnail, and both ends of its source.
package struct SettingsStamp: Sendable {
  /// The state of a thumbnail.
  package enum State: Sendable, Equatable {
    case upToDate
    /// There is no thumbnail.
    case missing
    /// The source has changed, or the settings have.
    case stale
    /// The source has another time. Its size, and its first and last bytes, are those of the contents that the thumbnail is of.
    case touched
    /// The place is the source itself. Writing there would destroy it.
    case isSource
    /// This place has the thumbnail of another source.
    case isTaken(Path)

    /// Whether the source can have no thumbnail in this place.
    var isRefused: Bool {
      switch self {
      case .isSource, .isTaken: true
      case .upToDate, .missing, .stale, .touched: false
      }
    }
  }

  /// What a walk knows about a source.
  package struct FoundSource {
    package let status: stat
    package let key: SourceKey
    package let path: Path
    package let uri: FileURI?
  }

  /// The mark of thumbnails with these settings.
  package let mark: ThumbnailMark
  private let output: OutputDescriptor
  /// Where other programs look for the thumbnails, and put their own.
  private let layout: Layout?
  /// Whether the times of thumbnails may be kept to two seconds only.
  private let hasCoarseTimes: Bool

  private enum OutputDescriptor: Sendable {
    case folder(OutputFolder)
    case path(Path)
  }

  /// Writes the present settings to the folder, if it has others.
  ///
  /// - Parameter settings: everything except the source that determines the bytes of a thumbnail, as one text.
  /// - Throws: ``OutputError``.
  package init(
    renewing settings: String, of set: SetName, _ layout: Layout? = nil, in output: OutputFolder
  ) throws(OutputError) {
    self.layout = layout
    let file = set.file
    if Self.read(file, in: output.descriptor) != settings {
      try output.publishSettings(Array(settings.utf8), to: file)
    }
    self.output = .folder(output)
    hasCoarseTimes = CoarseTimes.areIn(output.path)
    mark = ThumbnailMark(settings: settings)
  }

  /// Writes nothing, for a dry run.
  package init(reading settings: String, _ layout: Layout? = nil, in output: Path) {
    self.layout = layout
    self.output = .path(output)
    hasCoarseTimes = CoarseTimes.areIn(output)
    mark = ThumbnailMark(settings: settings)
  }

  /// The status of the file in a place; nil if there is none.
  package func status(of place: Path) -> stat? {
    let (path, folder) = location(of: place)
    return try? path.withCString { FileStatus.of($0, in: folder, followingLinks: false) }.get()
  }

  /// The state of a thumbnail, by its mark. A thumbnail of the same photo under an earlier path gets a mark with the present
  /// one, except in a dry run.
  ///
  /// - Parameters:
  ///   - place: the place of the thumbnail relative to the output folder.
  ///   - status: of the file there; nil if there is none.
  ///   - source: the source as the walk has found it.
  ///   - owner: whose thumbnail the file with a mark is.
  package func state(
    of place: Path, _ status: stat?, source: FoundSource, owner: (ThumbnailMark) -> Owners.Owner
  ) -> State {
    guard let status, status.kind == .regular else { return .missing }
    if FileIdentity(status) == FileIdentity(source.status) { return .isSource }
    if status.st_size == 0 { return .missing }
    let (path, folder) = location(of: place)
    guard let mark = ThumbnailMark(of: path, in: folder) else {
      return isValid(path, in: folder, status, of: source.uri, source.status) ? .upToDate : .stale
    }
    let owner = owner(mark)
    if owner == .other { return .isTaken(place) }
    guard mark.hasSettings(of: self.mark),
      let contents = mark.contents, contents.mayHave(size: Int(source.status.st_size)),
      contents == (try? SourceFile(source.path).contents())
    else { return owner == .unknown ? .isTaken(place) : .stale }
    guard hasTime(of: source, status, place) else {
      // An entry of the cache tells the time of its photo, too.
      return owner == .unknown ? .isTaken(place) : layout?.hasEntries == true ? .stale : .touched
    }
    guard mark.source != source.key, case .folder(let folder) = self.output else { return .upToDate }
    return folder.renew(place, mark.of(source.key), status, modified: status.modified) == nil ? .stale : .upToDate
  }

  /// Whether a file without a mark is another program's thumbnail of a source, and up to date.
  func isValid(_ status: stat, in place: Path, of source: Path, _ uri: FileURI?) -> Bool {
    guard case .success(let photo) = FileStatus.of(source, followingLinks: true) else { return false }
    let (path, folder) = location(of: place)
    return isValid(path, in: folder, status, of: uri, photo)
  }

  private func isValid(_ path: Path, in folder: CInt, _ status: stat, of uri: FileURI?, _ photo: stat) -> Bool {
    switch layout {
    case .freedesktop, .shared:
      guard let head = try? readBeginning(of: path, in: folder, limit: CacheEntry.headSize),
        let entry = CacheEntry(head: head)
      else { return false }
      return entry.isOf(uri: uri?.text, modified: photo.modified.tv_sec, size: Int(photo.st_size))
    // A NAS does not give its thumbnail the time of the photo. A photo that was moved here later may have an older time, so its
    // time of change counts, too.
    case .eadir: return !isBefore(status.modified, photo.modified) && !isBefore(status.modified, photo.changed)
    case nil: return false
    }
  }

  /// Whether a thumbnail has the time of its source, as far as its file system can keep that.
  private func hasTime(of source: FoundSource, _ status: stat, _ place: Path) -> Bool {
    let time = source.status.modified
    if isSameTime(status.modified, asKept: time, isCoarse: hasCoarseTimes) { return true }
    // What becomes of such a time is tried, because each file system has other limits. A dry run writes nothing.
    guard !time.isKeptEverywhere, case .folder(let output) = output,
      let folder = (try? openFolder(place.parent.isEmpty ? "." : place.parent, in: output.descriptor))
        .map({ Descriptor($0) }),
      let file = (try? createUnnamedFile(in: folder.number)).map({ Descriptor($0) })
    else { return false }
    var kept = stat()
    return (try? setModified(time, of: file.number)) != nil && fstat(file.number, &kept) == 0
      && isSameTime(status.modified, kept.modified)
  }

  /// What a thumbnail tells of its source from the network.
  package enum RemoteState {
    case made(KnownThumbnails)
    /// There is no thumbnail, or it has other settings.
    case missing
    /// This place has the thumbnail of another source.
    case isTaken(Path)

    /// What several thumbnails of a source tell together: that of the first place that another source has, otherwise whether
    /// all are there and agree.
    package static func together(_ states: [RemoteState]) -> RemoteState {
      for case .isTaken(let place) in states { return .isTaken(place) }
      let known = states.compactMap { if case .made(let known) = $0 { known } else { nil } }
      guard let first = known.first, known.count == states.count, known.allSatisfy({ $0 == first }) else {
        return .missing
      }
      return .made(first)
    }
  }

  /// What the thumbnail of a source from the network tells of it.
  package func remoteState(of place: Path, key: SourceKey) -> RemoteState {
    let (path, folder) = location(of: place)
    let found = path.withCString { FileStatus.of($0, in: folder, followingLinks: false) }
    guard case .success(let status) = found, status.kind == .regular, status.st_size > 0,
      let mark = ThumbnailMark(of: path, in: folder)
    else { return .missing }
    guard let there = mark.source else { return .missing }
    if there != key { return .isTaken(place) }
    guard mark.hasSettings(of: self.mark), let contents = mark.contents else { return .missing }
    return .made(KnownThumbnails(modified: status.modified, contents: contents))
  }

  /// The path of a place, and the folder from which it starts.
  private func location(of place: Path) -> (Path, CInt) {
    switch output {
    case .folder(let folder): (place, folder.descriptor)
    case .path(let path): (path.appending(place), AT_FDCWD)
    }
  }

  /// What tells the thumbnails of a size and format from others in an output folder.
  package struct SetName: Sendable, Hashable {
    /// The folder of the size; nil if thumbnails are in the output folder itself.
    package let folder: Path?
    package let format: ThumbnailFormat

    package init(folder: Path?, format: ThumbnailFormat = .jpeg) { (self.folder, self.format) = (folder, format) }

    private static let (file, folderMark, formatMark) = (Array("settings".utf8), UInt8(ascii: "-"), UInt8(ascii: "+"))

    /// Reads the name of a file in the working folder; nil if it is none of settings.
    package init?(ofFile name: Path) {
      guard name.bytes.starts(with: Self.file) else { return nil }
      var rest = name.bytes.dropFirst(Self.file.count)
      // No name of a size has this character.
      let mark = rest.lastIndex(of: Self.formatMark) ?? rest.endIndex
      let word = String(decoding: rest[mark...].dropFirst(), as: UTF8.self)
      guard let format = mark == rest.endIndex ? .jpeg : ThumbnailFormat(rawValue: word) else { return nil }
      rest = rest[..<mark]
      guard let first = rest.first else {
        self.init(folder: nil, format: format)
        return
      }
      guard first == Self.folderMark, let folder = Path(bytes: rest.dropFirst()), !folder.isEmpty else { return nil }
      self.init(folder: folder, format: format)
    }

    fileprivate var file: Path {
      let size = folder.map { [Self.folderMark] + $0.bytes } ?? []
      let format = format == .jpeg ? [] : [Self.formatMark] + Array(format.rawValue.utf8)
      return SourceWalker.workingFolderName.appending(Path(bytes: Self.file + size + format)!)
    }

    /// The settings with which the last run made these thumbnails; nil if there are none.
    package func settings(in output: Path) -> String? { SettingsStamp.read(output.appending(file), in: AT_FDCWD) }
  }

  private static func read(_ path: Path, in folder: CInt) -> String? {
    readFile(path, in: folder, limit: 1 << 14).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension OutputFolder {
  /// Writes the settings atomically, as thumbnails are written.
  func publishSettings(_ text: [UInt8], to place: Path) throws(OutputError) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    try publish(text, to: place, modified: now)
  }
}
