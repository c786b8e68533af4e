import Files
import Foundation
import SystemPackage

/// Which thumbnails of an output folder are up to date.
///
/// One is when it is a file with something in it, carries its source's time of change, and was made under the settings of
/// today. Most folders only ever see one kind of settings: `.thumbjob/settings` says so, and a `stat` is enough. Once the
/// settings have changed, or where others have put files, it says "mixed", and each thumbnail's own mark is read.
///
/// *Complexity*: one `stat` a thumbnail; in a mixed folder its first bytes too.
public struct SettingsStamp: Sendable {
  /// What a check found.
  public enum State: Sendable, Equatable {
    case upToDate
    /// There is none yet, or something that is no thumbnail.
    case missing
    /// Made from another state of the source, or under other settings.
    case stale
    /// The place is that of the source itself, which writing would destroy.
    case isSource
  }

  /// What thumbnails made under these settings carry.
  public let mark: ThumbnailMark
  private let output: OutputDescriptor
  /// Whether every thumbnail there was made under these settings.
  private let isUniform: Bool

  private enum OutputDescriptor: Sendable {
    case folder(OutputFolder)
    case path(Path)
  }

  /// Compares the settings noted in the output with those of today and notes today's when they differ.
  ///
  /// - Parameter size: the size's folder name where there are several sizes, each with its own settings.
  /// - Parameter settings: all that decides the bytes of a thumbnail but its source, as one text.
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

  /// The same without writing anything, for `--dry-run`.
  public init(reading settings: String, size: Path?, in output: Path) {
    self.output = .path(output)
    let note = Self.read(output.appending(Self.file(size)), in: AT_FDCWD)
    isUniform = note.map { $0.settings == settings && !$0.isMixed } ?? false
    mark = ThumbnailMark(settings: settings)
  }

  /// - Parameter place: of the thumbnail, relative to the output folder.
  /// - Parameter source: `stat` of the source.
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

  /// Ends the note of a folder whose thumbnails were not all made under the settings noted.
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
  /// Writes a note of the working folder as a thumbnail is written: whole or not at all.
  fileprivate func publishSettings(_ text: [UInt8], to place: Path) throws(OutputError) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    try publish(text, to: place, modified: now)
  }
}
