import Files
import Foundation
import Sourcing
import Thumbnails

/// Determines the place of a source's thumbnails, and which source gets a place that two sources want.
///
/// The result depends only on the source, the arguments and the files on disk, and not on the order in which operations
/// end. The plan keeps nothing about earlier sources, so it needs as little memory for a million sources as for one.
///
/// The thumbnails of `photo.jpg` have its relative path in their output; those of another format get their extension appended,
/// as in `photo.jpg.webp`. The place of a source is therefore its relative path. Two sources want the same one if
/// - `scan.png` and `scan.png.jpg` are in one folder, and thumbnails are JPEGs: `scan.png` gets it;
/// - links or an entry of a list give two files the same relative path: that of the earlier argument gets it.
///
/// Two entries of one list may want the same place, too. The entries are not kept, so the plan only tells whether that is
/// possible (``isContested(_:)``), and the first of them gets the place.
package struct OutputPlan: Sendable {
  package enum Placement: Sendable, Equatable {
    /// The path that the thumbnails mirror, relative to the output folder or, if there are several sizes, to the folder of each
    /// size. Each format appends its extension, unless the name has it. It is never absolute, has no `..`, and is never in the
    /// working folder.
    case place(Path)
    /// Another source gets the place.
    case taken(by: Path)
    /// An earlier argument has the same file.
    case duplicate(of: Path)
    /// The place would be in the working folder of the output.
    case reserved
  }

  private let walker: SourceWalker
  /// Whether an output mirrors the tree of the sources. If patterns name all thumbnails, no source is refused for a rival:
  /// the marks of thumbnails tell later whether two sources have got one place.
  package let isMirrored: Bool
  private let formats: [ThumbnailFormat]
  /// Whether a source has several places, of which another one may want only some.
  package var hasSeveralFormats: Bool { formats.count > 1 }
  private let isImage: @Sendable (Path) -> Bool
  /// The folders among the arguments, with their indexes and the paths that ``SourceTree`` gives them.
  private let folders: [(argument: Int, path: Path, mirrored: Path)]
  /// The files among the arguments by their relative paths, in the order of the arguments.
  private let files: [Path: [Source]]

  /// - Parameter walker: finds the sources. Output folders that do not exist yet are not recognised as such.
  package init(walker: SourceWalker, isMirrored: Bool = true, formats: [ThumbnailFormat] = [.jpeg]) {
    self.init(walker: walker, isMirrored: isMirrored, formats: formats, isImage: SourceFile.isPicture)
  }

  /// - Parameter isImage: whether a file can have thumbnails. It is called on any thread, for files that want the place
  ///   of another source.
  package init(
    walker: SourceWalker, isMirrored: Bool = true, formats: [ThumbnailFormat] = [.jpeg],
    isImage: @escaping @Sendable (Path) -> Bool
  ) {
    (self.walker, self.isMirrored, self.formats) = (walker, isMirrored, formats)
    self.isImage = isImage
    var folders: [(argument: Int, path: Path, mirrored: Path)] = []
    var files: [Path: [Source]] = [:]
    for (index, argument) in walker.arguments.enumerated() {
      guard case .path(let path) = argument,
        let status = try? FileStatus.of(path, followingLinks: true).get()
      else { continue }
      let mirrored = walker.tree.relativePath(ofArgument: path)
      if status.kind == .folder, !walker.outputs.contains(FileIdentity(status)) {
        folders.append((index, path, mirrored))
      } else if status.kind == .regular {
        let source = Source(path: path, relativePath: mirrored, argument: index, origin: .argument)
        files[mirrored, default: []].append(source)
      }
    }
    self.folders = folders
    self.files = files
  }

  package func placement(of source: Source) -> Placement {
    let place = source.relativePath
    if place.below(SourceWalker.workingFolderName) != nil { return .reserved }
    for format in formats {
      // Within its own argument, only a file with a better claim gets the place instead of the source.
      var candidateHasBetterClaim = true
      for wanted in Self.claims(to: place.named(as: format)) {
        if wanted == place { candidateHasBetterClaim = false }
        for rival in rivals(wanted, before: source, inOwnArgument: candidateHasBetterClaim) {
          guard let there = FileIdentity(of: rival) else { continue }
          if there == FileIdentity(of: source.path) { return .duplicate(of: rival) }
          if isMirrored, isImage(rival) { return .taken(by: rival) }
        }
      }
    }
    return .place(place)
  }

  /// The relative paths of sources that want the place of a thumbnail, the best claim first.
  static func claims(to thumbnail: Path) -> [Path] {
    for format in ThumbnailFormat.allCases {
      if let without = thumbnail.without(format), !without.hasName(of: format) { return [without, thumbnail] }
    }
    return [thumbnail]
  }

  /// The relative paths of sources that want a place of those of this source, the best claims first.
  private func claims(toThoseOf place: Path) -> [Path] {
    var found: [Path] = []
    for claim in formats.flatMap({ Self.claims(to: place.named(as: $0)) }) where !found.contains(claim) {
      found.append(claim)
    }
    return found
  }

  /// The files with the relative path `wanted` from arguments before the source's, and optionally from its own unless it
  /// is a list.
  private func rivals(_ wanted: Path, before source: Source, inOwnArgument: Bool) -> [Path] {
    let end = source.argument + (inOwnArgument ? 1 : 0)
    var found = (files[wanted] ?? []).filter { $0.argument < end }.map(\.path)
    for folder in folders.prefix(while: { $0.argument < end }) {
      if source.isWithoutRivals, folder.argument == source.argument { continue }
      guard let inner = wanted.below(folder.mirrored), !inner.isEmpty else { continue }
      if isReached(inner, below: folder.path) { found.append(folder.path.appending(inner)) }
    }
    return found
  }

  /// Whether an entry of a list, if the list has it, wants the place of this one: `scan.png` beside `scan.png.jpg`. Of sources
  /// from the network that is never known.
  package func isContested(_ source: Source) -> Bool {
    if source.address != nil { return true }
    guard source.origin == .list else { return false }
    return claims(toThoseOf: source.relativePath).contains { wanted in
      let sibling = source.path.parent.appending(wanted.lastName)
      return wanted != source.relativePath && FileStatus.isRegular(sibling, followingLinks: true)
        && FileIdentity(of: sibling) != FileIdentity(of: source.path) && isImage(sibling)
    }
  }

  /// Whether a walk of `folder` reaches the file at `relative`: filters, links and output folders may prevent it.
  private func isReached(_ relative: Path, below folder: Path) -> Bool {
    guard FileStatus.isRegular(folder.appending(relative), followingLinks: walker.followsLinks) else { return false }
    return walker.reaches(.regular, at: relative, below: folder)
  }

  /// The first source in the folders of the job that wants a place; nil if there is none.
  package func source(for place: Path) -> Path? {
    files(for: place).first { path, inner, folder in isReached(inner, below: folder) }?.path
  }

  /// The other files in the folders of the job whose thumbnails would have the same place.
  package func rivals(of source: Path, for place: Path) -> [Path] {
    files(for: place).filter { path, inner, folder in path != source && isReached(inner, below: folder) }.map(\.path)
  }

  /// The path that the thumbnails of a file mirror; nil if it is no source of the job.
  ///
  /// - Parameter file: absolute.
  package func relativePath(of file: Path) -> Path? {
    for folder in folders {
      guard let inner = folder.path.absolute.flatMap({ file.below($0) }), !inner.isEmpty else { continue }
      if isReached(inner, below: folder.path) { return folder.mirrored.appending(inner) }
    }
    let mirrored = walker.tree.relativePath(ofArgument: file)
    return files[mirrored]?.contains { $0.path.absolute == file } == true ? mirrored : nil
  }

  private func files(for place: Path) -> [(path: Path, inner: Path, folder: Path)] {
    claims(toThoseOf: place).flatMap { wanted in
      folders.compactMap { folder in
        wanted.below(folder.mirrored).map { (folder.path.appending($0), $0, folder.path) }
      }
    }
  }
}
