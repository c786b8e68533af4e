import Files
import Foundation
import Locking
import Marks
import Sourcing
import Thumbnails

/// Thumbnails of earlier runs in an output folder that a user may not expect: this run leaves or replaces them, or puts
/// its own elsewhere.
package struct EarlierRuns: Sendable, Equatable {
  /// Thumbnails of one size.
  package struct ThumbnailSet: Sendable, Equatable {
    /// The folder with the thumbnails.
    package let folder: Path
    /// The size they were made with.
    package let size: String
  }

  /// Thumbnails of other sizes, which this run leaves as they are. A run with one size puts its thumbnails into the
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
  ///   - sizes: the sizes of this run.
  ///   - hasSizeFolders: whether each of them has a folder.
  ///   - mirrorsTree: whether this run mirrors a tree there.
  package init(in output: Path, sizes: [SizeSpec], hasSizeFolders: Bool, mirrorsTree: Bool) {
    let names = hasSizeFolders ? sizes.map { Path($0.name) } : []
    let found = Self.settingsFiles(in: output)
    let folders = found.compactMap { $0 } + names
    let others = found.filter { name in
      names.isEmpty ? name != nil : name.map { !names.contains($0) } ?? true
    }
    let sets = others.compactMap { Self.set($0, in: output, besides: folders) }
    let lastSize = sizes.count == 1 && found.contains(nil) ? Self.size(nil, in: output) : nil
    self.init(
      left: sets.sorted { $0.folder.bytes.lexicographicallyPrecedes($1.folder.bytes) },
      hasOtherSize: lastSize != nil && lastSize != sizes[0].unnamed,

      lastTree: mirrorsTree
        ? readFile(output.appending(Self.treeFile), limit: 1 << 13).flatMap { Path(bytes: $0) } : nil)
  }

  package init(left: [ThumbnailSet], hasOtherSize: Bool = false, lastTree: Path? = nil) {
    (self.left, self.hasOtherSize, self.lastTree) = (left, hasOtherSize, lastTree)
  }

  /// The size folders that have settings; nil stands for the output folder itself.
  private static func settingsFiles(in output: Path) -> [Path?] {
    guard case .success(let folder) = OpenFolder.open(output.appending(SourceWalker.workingFolderName), in: AT_FDCWD)
    else { return [] }
    var found: [Path?] = []
    while case .success(let entry?) = folder.next() {
      if let name = SettingsStamp.size(ofFile: entry.name) { found.append(name.isEmpty ? nil : name) }
    }
    return found
  }

  /// The most files that are looked at to find one thumbnail of a set.
  private static let mostFiles = 1000

  /// The set in the folder of this name, or in the output folder itself if the name is nil. The result is nil if the
  /// set has no thumbnail any more.
  ///
  /// - Parameter folders: the folders of all sets, which are not part of the set in the output folder itself.
  private static func set(_ name: Path?, in output: Path, besides folders: [Path]) -> ThumbnailSet? {
    let folder = name.map { output.appending($0) } ?? output
    guard FileIdentity(of: folder) != nil else { return nil }
    let others = name == nil ? folders.map { output.appending($0) } : []
    var (hasThumbnail, files) = (false, 0)
    SourceWalker(arguments: [.path(folder)], outputs: others).walk(
      onError: { _ in },
      visit: { source in
        files += 1
        hasThumbnail = ThumbnailMark(of: source.path, in: AT_FDCWD) != nil
        return hasThumbnail || files == mostFiles ? .stop : .goOn
      })
    if !hasThumbnail { return nil }
    return ThumbnailSet(folder: folder, size: size(name, in: output))
  }

  /// The size of a set, without its name.
  private static func size(_ name: Path?, in output: Path) -> String {
    // The first line is `size 256x256` or `size small=256x256`.
    let line = SettingsStamp.settings(of: name, in: output)?.split(separator: "\n").first
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
