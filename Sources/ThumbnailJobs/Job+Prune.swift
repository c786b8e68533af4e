import Files
import Foundation

// Pruning: after a run, removes the thumbnails of sources that are gone, and those of sizes that the job does not have.
extension Job {
  /// Why no thumbnails may be removed after this run; nil if they may.
  public func pruneRefusal(after report: JobReport) -> PruneRefusal? {
    guard let tree = walker.tree.root, hasSources, report.tally.missingArguments == 0, report.tally.walkErrors == 0
    else {
      return .unreadable
    }
    if report.workRemains { return .workRemains }
    for case .path(let path) in settings.sources where Self.isEmptyFolder(path) { return .emptySource(path) }
    if let last = outputs.lazy.compactMap(\.earlier.lastTree).first(where: { $0 != tree }) { return .otherTree(last) }
    var other: Path?
    ledger?.forEachSource { source in
      if source.below(tree) == nil, FileStatus.exists(source) { other = source }
      return other == nil
    }
    return other.map { .otherSource($0) }
  }

  private static func isEmptyFolder(_ path: Path) -> Bool {
    guard case .success(let folder) = OpenFolder.open(path, in: AT_FDCWD), case .success(nil) = folder.next() else {
      return false
    }
    return true
  }

  /// Removes the thumbnails of sources that are gone, and those of earlier runs with other sizes. It removes only files
  /// with thumbjob's mark. Call it after ``run()``, and only if ``pruneRefusal(after:)`` is nil.
  ///
  /// Where a ``NamePattern`` makes the places, only sources that the ledger has can be found to be gone.
  ///
  /// - Parameters:
  ///   - isDryRun: whether only to tell what would be removed.
  ///   - onThumbnail: receives the path of each thumbnail, and its bytes.
  ///   - onError: receives each error; the others are removed all the same.
  /// - Returns: the counts so far if the job is stopped meanwhile.
  public func prune(
    isDryRun: Bool, onThumbnail: (Path, _ bytes: Int) -> Void, onError: (OutputError) -> Void
  ) -> PruneCounts {
    guard let tree = walker.tree.root else { preconditionFailure("a job without a tree refuses to prune") }
    var counts = PruneCounts()
    for output in outputs {
      do throws(OutputError) {
        let remover = try ThumbnailRemover(output.path, isDryRun: isDryRun)
        /// Removes the thumbnail in a place.
        func remove(_ place: Path, of source: Path? = nil) {
          do throws(OutputError) {
            guard case .removed(let bytes) = try remover.remove(place, of: source) else { return }
            counts.thumbnails += 1
            counts.bytes += bytes
            onThumbnail(output.path.appending(place), bytes)
          } catch {
            counts.failed += 1
            onError(error)
          }
        }
        removeOtherSizes(of: output) { remove($0) }
        if output.isMirrored {
          removeOrphans(of: output, tree) { remove($0) }
        } else {
          removeNamed(of: output, tree) { remove($0, of: $1) }
        }
      } catch {
        counts.failed += 1
        onError(error)
      }
    }
    if !isDryRun { forgetVanished(tree) }
    return counts
  }

  /// Passes the places of all files of sizes that the job does not have.
  private func removeOtherSizes(of output: ThumbnailOutput, _ remove: (Path) -> Void) {
    let sets = output.earlier.left.map(\.folder)
    for set in sets {
      // The set in the output folder itself is not in the folders of the other sizes.
      let others = (sets + output.folders).filter { $0 != set && $0.below(set) != nil }
      forEachFile(in: set, except: others, of: output, remove)
    }
  }

  /// Passes the places in a mirrored tree whose source is gone.
  private func removeOrphans(of output: ThumbnailOutput, _ tree: Path, _ remove: (Path) -> Void) {
    let sets = output.earlier.left.map(\.folder)
    var vanished = VanishedSources()
    for folder in output.folders {
      forEachFile(in: folder, except: sets.filter { $0 != folder && $0.below(folder) != nil }, of: output) { place in
        let mirrored = output.path.appending(place).below(folder) ?? place
        if OutputPlan.claims(to: mirrored).allSatisfy({ vanished.contains(tree.appending($0)) }) { remove(place) }
      }
    }
  }

  /// Passes the places that the pattern gives to the sources in the ledger that are gone.
  private func removeNamed(of output: ThumbnailOutput, _ tree: Path, _ remove: (Path, _ source: Path) -> Void) {
    var vanished = VanishedSources()
    ledger?.forEachSource { path in
      if let relative = path.below(tree), !relative.isEmpty, vanished.contains(path) {
        let source = Source(path: path, relativePath: relative, argument: 0, origin: .folder)
        for size in output.options.sizes {
          remove(output.place(of: source, OutputPlan.place(of: relative), size: size), path)
        }
      }
      return !isStopping
    }
  }

  private func forgetVanished(_ tree: Path) {
    var vanished = VanishedSources()
    ledger?.forEachSource { source in
      if source.below(tree) != nil, vanished.contains(source) { ledger?.forget(source) }
      return !isStopping
    }
    ledger?.write()
  }

  /// Passes the places of all files in a folder of an output.
  ///
  /// - Parameter others: folders in it that are left out.
  private func forEachFile(
    in folder: Path, except others: [Path], of output: ThumbnailOutput, _ body: (Path) -> Void
  ) {
    let start = folder.below(output.path) ?? Path()
    let walker = SourceWalker(
      arguments: [.path(folder)], filter: SourceFilter(takesHidden: true), outputs: others)
    // A folder that cannot be read keeps its thumbnails.
    walker.walk(
      shouldStop: { isStopping }, onError: { _ in },
      visit: { file in
        body(start.appending(file.relativePath))
        return .goOn
      })
  }
}
