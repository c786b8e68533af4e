import Files
import Foundation
import SystemPackage

/// Determines which thumbnails of an output folder are up to date.
///
/// A thumbnail is up to date if it is a file that is not empty, has the modification time of its source, and was made
/// with the present settings. In most folders all thumbnails have the same settings: the file `.thumbjob/settings`
/// contains them (with several sizes, a file `settings-NAME` for each), and a `stat` of the thumbnail is enough. If the
/// settings have changed, or the folder had files before its first run, that file ends with "mixed". Then the mark of
/// each thumbnail is read.
///
/// *Complexity*: one `stat` for each thumbnail; in a mixed folder also a read of its first bytes.
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

  /// - Parameter place: the place of the thumbnail relative to the output folder.
  /// - Parameter source: the status of the source.
  public func state(of place: Path, source: stat) -> State {
    let (path, folder) =
      switch output {
      case .folder(let folder): (place, folder.descriptor)
      case .path(let path): (path.appending(place), AT_FDCWD)
      }
    let found = path.withCString { FileStatus.of($0, in: folder, followingLinks: false) }
    guard case .success(let status) = found, status.kind == .regular else { return .missing }
    if FileIdentity(status) == FileIdentity(source) { return .isSource }
    if status.st_size == 0 { return .missing }
    guard isSameTime(status.modified, asKept: source.modified) else { return .stale }
    return isUniform || ThumbnailMark(of: path, in: folder) == mark ? .upToDate : .stale
  }

  /// The last line of the settings file if not all thumbnails have these settings.
  private static let mixed = "mixed\n"

  private static func file(_ size: Path?) -> Path {
    let name = size.map { Path(bytes: "settings-".utf8 + Array($0.bytes))! } ?? "settings"
    return SourceWalker.workingFolderName.appending(name)
  }

  private static func read(_ path: Path, in folder: CInt) -> (settings: String, isMixed: Bool)? {
    let file = path.withCString { openat(folder, $0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard let bytes = try? readAll(from: file, limit: 1 << 14) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.hasSuffix(mixed) ? (String(text.dropLast(mixed.count)), true) : (text, false)
  }
}

extension OutputFolder {
  /// Writes the settings atomically, as thumbnails are written.
  fileprivate func publishSettings(_ text: [UInt8], to place: Path) throws(OutputError) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    try publish(text, to: place, modified: now)
  }
}
