import Files
import Foundation

/// Where the thumbnails of a source go, and who keeps a place that two sources want.
///
/// Decided from the source, the arguments and the disk alone, the same for any order of finishing, and nothing is
/// remembered about sources met before: a plan costs as much for a million sources as for one.
///
/// `photo.jpg` keeps its relative path, any other name gains `.jpg`. So two sources want one place when
/// - `scan.png` and `scan.png.jpg` lie side by side: the one without keeps it;
/// - two arguments have the same relative path: the earlier argument keeps it.
public struct OutputPlan: Sendable {
  public enum Placement: Sendable, Equatable {
    /// Relative to the output folder, or to the size's folder in it where there are several sizes. Never absolute,
    /// never with `..`, never in the working folder.
    case place(Path)
    /// Another source keeps the place: this one fails by name.
    case taken(by: Path)
    /// The same file was reached through an earlier argument: passed over.
    case duplicate(of: Path)
    /// The place would lie in the working folder of the output, which is not for thumbnails.
    case reserved
  }

  private let walker: SourceWalker
  private let isImage: @Sendable (Path) -> Bool
  private let outputs: Set<FileIdentity>
  /// Folder arguments by their place among the arguments.
  private let folders: [(argument: Int, path: Path)]
  /// File arguments by the place they want, each list in argument order.
  private let files: [Path: [Source]]

  /// - Parameter walker: the walk that the sources come from; the output folders must exist by now to be known.
  /// - Parameter isImage: whether a file's contents are an image that thumbnails can be made of. Asked only about a
  ///   file that is in the way of another, from any thread.
  public init(walker: SourceWalker, isImage: @escaping @Sendable (Path) -> Bool) {
    self.walker = walker
    self.isImage = isImage
    outputs = Set(walker.outputs.compactMap { FileIdentity(of: $0) })
    var folders: [(argument: Int, path: Path)] = []
    var files: [Path: [Source]] = [:]
    for (index, argument) in walker.arguments.enumerated() {
      guard case .path(let path) = argument,
        let status = try? FileStatus.of(path, followingLinks: true).get()
      else { continue }
      if status.kind == .folder, !outputs.contains(FileIdentity(status)) {
        folders.append((index, path))
      } else if status.kind == .regular {
        let source = Source(path: path, relativePath: path.lastName, argument: index, origin: .argument)
        files[Self.place(of: path.lastName), default: []].append(source)
      }
    }
    self.folders = folders
    self.files = files
  }

  /// Where the thumbnail of a source with this relative path goes, nobody being in the way.
  public static func place(of relativePath: Path) -> Path {
    hasJPEGName(relativePath) ? relativePath : Path(bytes: Array(relativePath.bytes) + ".jpg".utf8)!
  }

  public func placement(of source: Source) -> Placement {
    let place = Self.place(of: source.relativePath)
    if place.names.first == SourceWalker.workingFolderName { return .reserved }
    // Among its own argument's files the source yields to better claims only.
    var hasBetterClaim = true
    for wanted in claims(to: place) {
      if wanted == source.relativePath { hasBetterClaim = false }
      for rival in rivals(wanted, place: place, before: source, inOwnArgument: hasBetterClaim) {
        guard let there = FileIdentity(of: rival) else { continue }
        if there == FileIdentity(of: source.path) { return .duplicate(of: rival) }
        if isImage(rival) { return .taken(by: rival) }
      }
    }
    return .place(place)
  }

  /// The relative paths whose thumbnails go to `place`, the better claim first.
  private func claims(to place: Path) -> [Path] {
    let bytes = place.bytes
    guard bytes.count > 4, bytes.suffix(4).elementsEqual(".jpg".utf8) else { return [place] }
    let without = Path(bytes: bytes.dropLast(4))!
    return Self.hasJPEGName(without) || without.lastName.isEmpty || bytes.dropLast(4).last == UInt8(ascii: "/")
      ? [place] : [without, place]
  }

  /// Files of relative path `wanted` from arguments before the source's, and from its own if asked.
  private func rivals(_ wanted: Path, place: Path, before source: Source, inOwnArgument: Bool) -> [Path] {
    let end = source.argument + (inOwnArgument ? 1 : 0)
    var found: [Path] = []
    for file in files[place] ?? [] where file.relativePath == wanted && file.argument < end { found.append(file.path) }
    for folder in folders.prefix(while: { $0.argument < end }) {
      if isReached(wanted, below: folder.path) { found.append(folder.path.appending(wanted)) }
    }
    // A list is not kept, so a sibling stands for an entry of it: better a failure by name than a silent loss.
    if source.origin == .list && inOwnArgument {
      let sibling = source.path.parent.appending(wanted.lastName)
      if FileStatus.isRegular(sibling, followingLinks: true) { found.append(sibling) }
    }
    return found
  }

  /// True when the walk of `folder` comes to the file at `relative`: no filter, link or output folder is before it.
  private func isReached(_ relative: Path, below folder: Path) -> Bool {
    guard FileStatus.isRegular(folder.appending(relative), followingLinks: walker.followsLinks) else { return false }
    guard walker.filter.reaches(file: relative) else { return false }
    var above = relative.parent
    while !above.isEmpty {
      guard
        let status = try? FileStatus.of(folder.appending(above), followingLinks: walker.followsLinks).get(),
        status.kind == .folder, !outputs.contains(FileIdentity(status)),
        above.lastName != SourceWalker.workingFolderName
      else { return false }
      above = above.parent
    }
    return true
  }

  /// True for names ending in `.jpg`, `.jpeg`, `.jpe` or `.jfif` in any case, with something before it.
  static func hasJPEGName(_ path: Path) -> Bool {
    let name = path.lastName.bytes
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return false }
    let ending = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    return ["jpg", "jpeg", "jpe", "jfif"].contains(ending)
  }
}

extension FileStatus {
  static func isRegular(_ path: Path, followingLinks: Bool) -> Bool {
    (try? of(path, followingLinks: followingLinks).get())?.kind == .regular
  }
}
