import Files
import Foundation
import Locking
import Marks
import Sourcing
import Thumbnails

/// Thumbnails of earlier runs in an output folder that a user may not expect: this run leaves or replaces them, or puts
/// its own elsewhere.
package struct EarlierRuns: Sendable, Equatable {
  /// Thumbnails of one size and format.
  package struct ThumbnailSet: Sendable, Equatable {
    /// The folder with the thumbnails.
    package let folder: Path
    /// The size they were made with.
    package let size: String
    package let format: ThumbnailFormat

    package init(folder: Path, size: String, format: ThumbnailFormat = .jpeg) {
      (self.folder, self.size, self.format) = (folder, size, format)
    }

    fileprivate func isBefore(_ other: ThumbnailSet) -> Bool {
      folder == other.folder
        ? format.rawValue < other.format.rawValue : folder.bytes.lexicographicallyPrecedes(other.folder.bytes)
    }
  }

  /// Thumbnails of other sizes or formats, which this run leaves as they are. A run with one size puts its thumbnails into the
  /// output folder itself, a run with several into a folder for each.
  package let left: [ThumbnailSet]
  /// Whether the last run made thumbnails of another size in the output folder itself, where this run makes its own.
  package let hasOtherSize: Bool
  /// The absolute folder whose tree the thumbnails of the last run mirror; empty if that run had a list; nil if no run has
  /// mirrored a tree here, or this one does not. If this run mirrors another tree, sources have other places than before,
  /// or share them with other sources.
  package let lastTree: Path?

  /// The file that contains the path of the last tree.
  package static let treeFile = SourceWalker.workingFolderName.appending("tree")

  /// Reads what earlier runs have left. Call this before the settings in the output folder are renewed.
  ///
  /// - Parameters:
  ///   - options: of this run.
  ///   - hasSizeFolders: whether each size has a folder.
  ///   - mirrorsTree: whether this run mirrors a tree there.
  ///   - hasForeignThumbnails: whether other programs put thumbnails there, too. Then each set counts as left, without a look
  ///     at its files.
  package init(
    in output: Path, _ options: ThumbnailOptions, hasSizeFolders: Bool, mirrorsTree: Bool,
    hasForeignThumbnails: Bool = false
  ) {
    let own = options.renditions.map {
      SettingsStamp.SetName(folder: hasSizeFolders ? Path($0.size.name) : nil, format: $0.format)
    }
    let found = Self.settingsFiles(in: output)
    let folders = (found + own).compactMap(\.folder)
    let sets = found.filter { !own.contains($0) }.compactMap {
      Self.set($0, in: output, besides: folders, hasForeignThumbnails: hasForeignThumbnails)
    }
    let last = options.sizes.count == 1 ? found.first { $0.folder == nil && own.contains($0) } : nil
    let lastSize = last.map { Self.size($0, in: output) }
    self.init(
      left: sets.sorted { $0.isBefore($1) },
      hasOtherSize: lastSize != nil && lastSize != options.sizes[0].unnamed,
      lastTree: mirrorsTree
        ? readFile(output.appending(Self.treeFile), limit: 1 << 13).flatMap { Path(bytes: $0) } : nil)
  }

  package init(left: [ThumbnailSet], hasOtherSize: Bool = false, lastTree: Path? = nil) {
    (self.left, self.hasOtherSize, self.lastTree) = (left, hasOtherSize, lastTree)
  }

  /// The sets that have settings.
  private static func settingsFiles(in output: Path) -> [SettingsStamp.SetName] {
    guard case .success(let folder) = OpenFolder.open(output.appending(SourceWalker.workingFolderName), in: AT_FDCWD)
    else { return [] }
    var found: [SettingsStamp.SetName] = []
    while case .success(let entry?) = folder.next() {
      if let name = SettingsStamp.SetName(ofFile: entry.name) { found.append(name) }
    }
    return found
  }

  /// The most files that are looked at to find one thumbnail of a set.
  private static let mostFiles = 1000
  /// The most that are passed over meanwhile, because their names are those of another format.
  private static let mostOthers = 100_000

  /// The set of this name; nil if it has no thumbnail any more.
  ///
  /// - Parameter folders: the folders of all sets, which are not part of the set in the output folder itself.
  private static func set(
    _ name: SettingsStamp.SetName, in output: Path, besides folders: [Path], hasForeignThumbnails: Bool
  ) -> ThumbnailSet? {
    let folder = name.folder.map { output.appending($0) } ?? output
    guard FileIdentity(of: folder) != nil else { return nil }
    if hasForeignThumbnails { return ThumbnailSet(folder: folder, size: size(name, in: output), format: name.format) }
    let otherFolders = name.folder == nil ? folders.map { output.appending($0) } : []
    var (hasThumbnail, files, others) = (false, 0, 0)
    SourceWalker(arguments: [.path(folder)], outputs: otherFolders).walk(
      onError: { _ in },
      visit: { source in
        guard source.path.hasName(of: name.format) else {
          others += 1
          return others == mostOthers ? .stop : .goOn
        }
        files += 1
        hasThumbnail = ThumbnailMark(of: source.path, in: AT_FDCWD) != nil
        return hasThumbnail || files == mostFiles ? .stop : .goOn
      })
    if !hasThumbnail { return nil }
    return ThumbnailSet(folder: folder, size: size(name, in: output), format: name.format)
  }

  /// The size of a set, without its name.
  private static func size(_ name: SettingsStamp.SetName, in output: Path) -> String {
    // The first line is `size 256x256` or `size small=256x256`.
    let line = name.settings(in: output)?.split(separator: "\n").first
    return String(line?.split { $0 == " " || $0 == "=" }.last ?? "")
  }
}

/// What earlier runs have left in an output, as it was last looked at: all copies of a ``ThumbnailOutput`` share it.
///
/// *Concurrency*: from any thread.
final class LookedAtRuns: Sendable {
  let found: Locked<EarlierRuns>

  init(_ found: EarlierRuns) { self.found = Locked(found) }
}
