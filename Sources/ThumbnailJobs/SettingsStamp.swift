import Foundation
import SystemPackage

/// Which thumbnails of an output folder are up to date.
///
/// One is when it is a file with something in it, carries its source's time of change to the nanosecond, and was made
/// under the settings of today. The last is known from `.thumbjob/settings`, which holds the settings as text and is
/// rewritten only when they change: a thumbnail older than it (by the time of status change, which no program can set)
/// was made under others.
///
/// *Complexity*: one `stat` a thumbnail, nothing is read.
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

  private let output: OutputDescriptor
  /// When the settings became what they are; nil when no thumbnail was made under them.
  private let since: timespec?

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
    var note = Self.read(file, in: output.descriptor)
    if note?.settings != settings {
      try output.publishSettings(Array(settings.utf8), to: file)
      note = Self.read(file, in: output.descriptor)
    }
    self.output = .folder(output)
    since = note?.since
  }

  /// The same without writing anything, for `--dry-run`: under other settings than those noted all is stale.
  public init(reading settings: String, size: Path?, in output: Path) {
    self.output = .path(output)
    let note = Self.read(output.appending(Self.file(size)), in: AT_FDCWD)
    since = note?.settings == settings ? note?.since : nil
  }

  /// - Parameter place: of the thumbnail, relative to the output folder.
  /// - Parameter source: `stat` of the source.
  public func state(of place: Path, source: stat) -> State {
    let found =
      switch output {
      case .folder(let folder): place.withCString { FileStatus.of($0, in: folder.descriptor, followingLinks: false) }
      case .path(let path): FileStatus.of(path.appending(place), followingLinks: false)
      }
    guard case .success(let status) = found, status.kind == .regular else { return .missing }
    if FileIdentity(status) == FileIdentity(source) { return .isSource }
    if status.st_size == 0 { return .missing }
    guard let since, !isBefore(status.changed, since) else { return .stale }
    return isSameTime(status.modified, source.modified) ? .upToDate : .stale
  }

  private static func file(_ size: Path?) -> Path {
    let name = size.map { Path(bytes: "settings-".utf8 + Array($0.bytes))! } ?? "settings"
    return SourceWalker.workingFolderName.appending(name)
  }

  private static func read(_ path: Path, in folder: CInt) -> (settings: String, since: timespec)? {
    let file = path.withCString { openat(folder, $0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    let count = bytes.withUnsafeMutableBytes { Foundation.read(file, $0.baseAddress, $0.count) }
    guard count >= 0, fstat(file, &status) == 0 else { return nil }
    return (String(decoding: bytes[..<count], as: UTF8.self), status.changed)
  }
}

extension OutputFolder {
  /// Writes a note of the working folder as a thumbnail is written: whole or not at all.
  fileprivate func publishSettings(_ text: [UInt8], to place: Path) throws(OutputError) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let result = text.withUnsafeBytes { bytes in
      Result { () throws(OutputError) in try put(bytes, to: place, modified: now) }
    }
    try result.get()
  }
}
