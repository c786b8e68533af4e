import Files
import Foundation
import SystemPackage

/// Determines which thumbnails of an output folder are up to date.
///
/// A thumbnail is up to date if it is a file that is not empty, has the modification time of its source, was made from
/// these contents, and with the present settings. In most folders all thumbnails have the same settings: the file
/// `.thumbjob/settings` contains them (with several sizes, a file `settings-NAME` for each), and a `stat` of the thumbnail
/// is enough. If the settings have changed, or the folder had files before its first run, that file ends with "mixed".
/// Then the mark of each thumbnail is read. It is always read if a ``NamePattern`` makes the places, because it has the
/// source's key.
///
/// The contents are compared only if the source was renamed, replaced or otherwise touched after its thumbnail was made,
/// which its status time (`st_ctime`) tells: a photo may be replaced by another of the same modification time. Where
/// that time is not kept, only the size is compared. A whole folder that trades its name with another changes no such
/// time.
///
/// *Complexity*: one `stat` for each thumbnail; where its mark is read, also a read of its first bytes.
public struct SettingsStamp: Sendable {
  /// The state of a thumbnail.
  public enum State: Sendable, Equatable {
    case upToDate
    /// There is no thumbnail.
    case missing
    /// The source has changed, or the settings have.
    case stale
    /// The place is the source itself. Writing there would destroy it.
    case isSource
    /// This place has the thumbnail of another source.
    case isTaken(Path)

    /// Whether the source can have no thumbnail in this place.
    var isRefused: Bool {
      switch self {
      case .isSource, .isTaken: true
      case .upToDate, .missing, .stale: false
      }
    }
  }

  /// What a walk knows about a source.
  struct FoundSource {
    let status: stat
    /// The key of the source; nil if only one source can want the place.
    let key: SourceKey?
    let path: Path
    /// Whether the status tells when the source got its name and contents.
    let keepsChangeTime: Bool
  }

  /// The mark of thumbnails with these settings.
  public let mark: ThumbnailMark
  private let output: OutputDescriptor
  /// Whether every thumbnail in the folder was made with these settings.
  private let isUniform: Bool

  private enum OutputDescriptor: Sendable {
    case folder(OutputFolder)
    case path(Path)
  }

  /// Compares the present settings with those in the folder, and writes the present ones there if they differ.
  ///
  /// - Parameter settings: everything except the source that determines the bytes of a thumbnail, as one text.
  /// - Parameter size: the name of the size's folder if there are several sizes.
  /// - Throws: ``OutputError``.
  public init(renewing settings: String, size: Path?, in output: OutputFolder) throws(OutputError) {
    let file = Self.file(size)
    let note = Self.read(file, in: output.descriptor)
    isUniform = note.map { $0.settings == settings && !$0.isMixed } ?? output.isEmpty(below: size)
    if note?.settings != settings {
      try output.publishSettings(Array((settings + (isUniform ? "" : Self.mixed)).utf8), to: file)
    }
    self.output = .folder(output)
    mark = ThumbnailMark(settings: settings)
  }

  /// Compares the settings without writing, for a dry run.
  public init(reading settings: String, size: Path?, in output: Path) {
    self.output = .path(output)
    let note = Self.read(output.appending(Self.file(size)), in: AT_FDCWD)
    isUniform = note.map { $0.settings == settings && !$0.isMixed } ?? false
    mark = ThumbnailMark(settings: settings)
  }

  /// The state of a thumbnail.
  ///
  /// - Parameters:
  ///   - place: the place of the thumbnail relative to the output folder.
  ///   - source: the source as the walk has found it.
  func state(of place: Path, source: FoundSource) -> State {
    let (path, folder) = location(of: place)
    let found = path.withCString { FileStatus.of($0, in: folder, followingLinks: false) }
    guard case .success(let status) = found, status.kind == .regular else { return .missing }
    if FileIdentity(status) == FileIdentity(source.status) { return .isSource }
    if status.st_size == 0 { return .missing }
    let isCurrent = isSameTime(status.modified, asKept: source.status.modified)
    // Equal times count as touched, because a file system stores times of some milliseconds.
    let isTouched = !isBefore(source.status.changed, status.changed)
    // The mark is read only if it can make a difference.
    if source.key == nil, !isCurrent { return .stale }
    if source.key == nil, isUniform, !isTouched, source.keepsChangeTime { return .upToDate }
    guard let mark = ThumbnailMark(of: path, in: folder) else { return .stale }
    if let key = source.key, let there = mark.source, there != key { return .isTaken(place) }
    guard isCurrent, isUniform && source.key == nil || mark.hasSettings(of: self.mark) else { return .stale }
    if let contents = mark.contents, !contents.mayHave(size: Int(source.status.st_size)) { return .stale }
    guard isTouched else { return .upToDate }
    guard let contents = mark.contents, contents == (try? SourceFile(source.path).contents()) else { return .stale }
    refresh(path, status)
    return .upToDate
  }

  /// What a thumbnail tells of its source from the network.
  enum RemoteState {
    case made(KnownThumbnails)
    /// There is no thumbnail, or it has other settings.
    case missing
    /// This place has the thumbnail of another source.
    case isTaken(Path)

    /// What several thumbnails of a source tell together: that of the first place that another source has, otherwise whether
    /// all are there and agree.
    static func together(_ states: [RemoteState]) -> RemoteState {
      for case .isTaken(let place) in states { return .isTaken(place) }
      let known = states.compactMap { if case .made(let known) = $0 { known } else { nil } }
      guard let first = known.first, known.count == states.count, known.allSatisfy({ $0 == first }) else {
        return .missing
      }
      return .made(first)
    }
  }

  /// What the thumbnail of a source from the network tells of it.
  func remoteState(of place: Path, key: SourceKey) -> RemoteState {
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

  /// Renews the status time of a thumbnail, so that the next run need not compare contents again. A failure matters only
  /// for the time that takes.
  private func refresh(_ place: Path, _ status: stat) {
    guard case .folder(let folder) = output else { return }
    let times = [status.accessed, status.modified]
    _ = place.withCString { utimensat(folder.descriptor, $0, times, AT_SYMLINK_NOFOLLOW) }
  }

  /// The last line of the settings file if not all thumbnails have these settings.
  private static let mixed = "mixed\n"

  /// The prefix of the settings files of sizes with a folder.
  private static let sizePrefix = Array("settings-".utf8)

  private static func file(_ size: Path?) -> Path {
    let name = size.map { Path(bytes: sizePrefix + Array($0.bytes))! } ?? "settings"
    return SourceWalker.workingFolderName.appending(name)
  }

  /// The folder of the size whose settings are in a file of this name: empty for the only size; nil if this is no name
  /// of a settings file.
  static func size(ofFile name: Path) -> Path? {
    if name == "settings" { return Path() }
    guard name.bytes.starts(with: sizePrefix) else { return nil }
    return Path(bytes: name.bytes.dropFirst(sizePrefix.count))
  }

  /// The settings with which the last run made the thumbnails of a size; nil if there are none.
  static func settings(of size: Path?, in output: Path) -> String? {
    read(output.appending(file(size)), in: AT_FDCWD)?.settings
  }

  private static func read(_ path: Path, in folder: CInt) -> (settings: String, isMixed: Bool)? {
    guard let bytes = readFile(path, in: folder, limit: 1 << 14) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.hasSuffix(mixed) ? (String(text.dropLast(mixed.count)), true) : (text, false)
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
