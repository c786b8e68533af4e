import Files
import Foundation
import Marks
import Sourcing

/// Removes the thumbnails of sources that are gone, and those of sizes that a job does not have: everything that thumbjob
/// removes goes through here. docs/ledger.md has the rules.
///
/// *Concurrency*: from any thread.
package struct Removal: Sendable {
  private struct Output: Sendable {
    let output: ThumbnailOutput
    let remover: ThumbnailRemover
  }

  private let outputs: [Output]
  /// The folder whose tree the thumbnails mirror.
  private let tree: Path
  private let onRemoval: @Sendable (Path, Result<Int, OutputError>) -> Void

  /// - Parameters:
  ///   - isDryRun: whether only to tell what would be removed.
  ///   - onRemoval: receives each removed thumbnail and its bytes, or why it could not be removed.
  package init(
    in outputs: [ThumbnailOutput], tree: Path, isDryRun: Bool = false,
    onRemoval: @escaping @Sendable (Path, Result<Int, OutputError>) -> Void
  ) {
    (self.tree, self.onRemoval) = (tree, onRemoval)
    var opened: [Output] = []
    for output in outputs {
      do throws(OutputError) {
        opened.append(Output(output: output, remover: try ThumbnailRemover(output.path, isDryRun: isDryRun)))
      } catch {
        // A dry run makes no output folder.
        if error.error != .noSuchFileOrDirectory { onRemoval(output.path, .failure(error)) }
      }
    }
    self.outputs = opened
  }

  /// Removes all thumbnails of a source that is gone, in the sizes of the job and in those of earlier runs.
  ///
  /// - Parameters:
  ///   - source: absolute.
  ///   - first: the place of one of them in the first output, as the ledger remembers it.
  /// - Returns: whether none is left.
  @discardableResult
  package func removeAll(of source: Path, first: Path? = nil) -> Bool {
    guard let relative = source.below(tree), !relative.isEmpty else { return false }
    var isClean = true
    for (index, output) in outputs.enumerated() {
      let known = index == 0 ? [first].compactMap { $0 } : []
      let places = Set(output.output.places(of: source, relative) + ofOtherSizes(relative, source, output) + known)
      for place in places where !remove(place, of: source, relative, in: output) { isClean = false }
    }
    return isClean
  }

  /// Removes the thumbnails of a source in sizes of earlier runs.
  ///
  /// - Returns: whether none is left.
  @discardableResult
  package func removeOtherSizes(of source: Path) -> Bool {
    guard let relative = source.below(tree), !relative.isEmpty else { return false }
    var isClean = true
    for output in outputs where !output.output.keepsOtherSizes {
      for place in Set(ofOtherSizes(relative, source, output)) where !isOfJob(place, of: source, relative, in: output) {
        if !remove(place, of: source, relative, in: output) { isClean = false }
      }
    }
    return isClean
  }

  /// Removes the thumbnails that are where another source needs folders for its own: `a.jpg` where now a folder `a.jpg` has
  /// photos, or `small/a.jpg` of an earlier size where now a folder `small/a.jpg` has.
  ///
  /// - Parameters:
  ///   - place: the place of the other source's thumbnails, from ``OutputPlan``.
  ///   - remembered: the absolute paths of the sources that a key stands for. So sources are found whose thumbnails were
  ///     made when the output folder mirrored another tree.
  ///   - mayRemove: whether a thumbnail of a source may be removed. It gets the absolute path of the source, and whether this
  ///     job makes that thumbnail.
  /// - Returns: the sources whose thumbnails were removed.
  package func removeAbove(
    _ place: Path, of other: Source, remembered: (SourceKey) -> [Path], mayRemove: (Path, _ isOfJob: Bool) -> Bool
  ) -> Set<Path> {
    var found: Set<Path> = []
    for output in outputs {
      for rendition in output.output.options.renditions {
        var folder = output.output.place(of: other, place, rendition).parent
        while !folder.isEmpty {
          for source in owners(of: folder, in: output, remembered) {
            let relative = source.below(tree)
            let isWanted = relative.map { isOfJob(folder, of: source, $0, in: output) } ?? false
            guard mayRemove(source, isWanted) else { continue }
            if outcome(folder, of: source, relative, in: output) == .removed { found.insert(source) }
          }
          folder = folder.parent
        }
      }
    }
    return found
  }

  /// The sources whose thumbnail a file may be, by its place and by its mark.
  private func owners(of place: Path, in output: Output, _ remembered: (SourceKey) -> [Path]) -> Set<Path> {
    let file = output.output.path.appending(place)
    guard FileStatus.isRegular(file, followingLinks: false) else { return [] }
    let named = (try? ThumbnailMark.read(file, in: AT_FDCWD))?.source.map(remembered) ?? []
    return Set(named + Self.claims(to: place).map(tree.appending))
  }

  /// The sources that may have a place, perhaps in the folder of a size.
  private static func claims(to place: Path) -> [Path] {
    let inner = place.names.first.flatMap { place.below($0) }
    return [place, inner].compactMap { $0 }.filter { !$0.isEmpty }.flatMap { OutputPlan.claims(to: $0) }
  }

  private func ofOtherSizes(_ relative: Path, _ source: Path, _ output: Output) -> [Path] {
    output.output.earlier.left.flatMap { set in
      guard let folder = set.folder.below(output.output.path) else { return [] as [Path] }
      return output.output.placesOfOtherSize(of: source, relative, set.format).map { folder.appending($0) }
    }
  }

  /// Whether the job makes this thumbnail of a source.
  private func isOfJob(_ place: Path, of source: Path, _ relative: Path, in output: Output) -> Bool {
    let places = output.output.places(of: source, relative)
    if places.contains(place) { return true }
    // Two places may be one file: through a link, or where capital letters do not count.
    guard let file = FileIdentity(of: output.output.path.appending(place)) else { return false }
    return places.contains { FileIdentity(of: output.output.path.appending($0)) == file }
  }

  private enum Outcome { case removed, notOurs, failed }

  private func remove(_ place: Path, of source: Path, _ relative: Path, in output: Output) -> Bool {
    outcome(place, of: source, relative, in: output) != .failed
  }

  /// - Parameter relative: the path of the source in the tree; nil if it is not in it.
  private func outcome(_ place: Path, of source: Path, _ relative: Path?, in output: Output) -> Outcome {
    do throws(OutputError) {
      // The marks of earlier versions do not name their source. Such a thumbnail may be that of a source that exists.
      let isOurTree = output.output.earlier.lastTree ?? tree == tree
      let outcome = try output.remover.remove(
        place, of: source, unnamed: isOurTree && relative.map { !hasOther(place, than: $0, in: output.output) } ?? false
      )
      guard case .removed(let bytes) = outcome else { return .notOurs }
      onRemoval(output.output.path.appending(place), .success(bytes))
      return .removed
    } catch {
      onRemoval(output.output.path.appending(place), .failure(error))
      return .failed
    }
  }

  /// Whether another source than this one may have a place, or that place without the folder of a size.
  private func hasOther(_ place: Path, than relative: Path, in output: ThumbnailOutput) -> Bool {
    let places = [place] + output.options.formats.map(relative.named(as:))
    return places.flatMap(OutputPlan.claims(to:)).contains {
      $0 != relative && FileStatus.exists(tree.appending($0))
    }
  }
}
