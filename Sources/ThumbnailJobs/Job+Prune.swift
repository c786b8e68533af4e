import Files
import Foundation
import Ledger

// Pruning: after a run, removes the thumbnails of sources that are gone, and those of sizes that the job does not have.
extension Job {
  /// Why no thumbnails may be removed after this run; nil if they may.
  public func pruneRefusal(after report: JobReport) -> PruneRefusal? {
    guard let tree = walker.tree.root, hasSources, report.tally.missingArguments == 0, report.tally.walkErrors == 0
    else {
      return .unreadable
    }
    if report.workRemains { return .workRemains }
    for case .path(let path) in settings.sources {
      if VanishedSources.isEmpty(path) || report.tally.found == 0 { return .emptySource(path) }
      // The text of a path that has `..` after a link leads elsewhere than the system.
      if FileIdentity(of: path) != path.absolute.flatMap({ FileIdentity(of: $0) }) { return .unclearPath(path) }
    }
    return otherSources(than: tree)
  }

  /// Why thumbnails in the output folders may be those of sources that this job does not have; nil if none are.
  ///
  /// - Parameter tree: the folder whose tree the thumbnails mirror.
  func otherSources(than tree: Path) -> PruneRefusal? {
    if let last = outputs.lazy.compactMap(\.earlier.lastTree).first(where: { $0 != tree }) { return .otherTree(last) }
    if let problem = ledger?.problem { return .noLedger(problem) }
    var other: Path?
    for output in outputs {
      do throws(LedgerError) {
        try RememberedSources(in: output.path).visit { source in
          if source.path.below(tree) == nil, FileStatus.exists(source.path) { other = source.path }
          return other == nil
        }
      } catch  where error.kind == .missing {
        // The ledger of the job is in its first output.
      } catch {
        return .noLedger(error)
      }
    }
    return other.map { .otherSource($0) }
  }

  /// Removes the thumbnails of sources that are gone, and those of earlier runs with other sizes. It removes only files
  /// with thumbjob's mark, and only of sources that the ledger has: a thumbnail of unknown origin stays. Call it after
  /// ``run()``, and only if ``pruneRefusal(after:)`` is nil.
  ///
  /// - Parameters:
  ///   - isDryRun: whether only to tell what would be removed.
  ///   - onThumbnail: receives the path of each thumbnail, and its bytes.
  ///   - onError: receives each error; the others are removed all the same.
  /// - Returns: the counts so far if the job is stopped meanwhile.
  public func prune(
    isDryRun: Bool, onThumbnail: (Path, _ bytes: Int) -> Void, onError: (OutputError) -> Void
  ) -> PruneCounts {
    var counts = PruneCounts()
    var removers: [(output: ThumbnailOutput, remover: ThumbnailRemover)] = []
    for output in outputs {
      do throws(OutputError) {
        removers.append((output, try ThumbnailRemover(output.path, isDryRun: isDryRun)))
      } catch  where error.error == .noSuchFileOrDirectory {
        // A dry run makes no output folder.
      } catch {
        counts.failed += 1
        onError(error)
      }
    }
    /// - Returns: whether no thumbnail of the source is in the place any more.
    func remove(_ place: Path, of source: Path?, in output: (output: ThumbnailOutput, remover: ThumbnailRemover))
      -> Bool
    {
      do throws(OutputError) {
        guard case .removed(let bytes) = try output.remover.remove(place, of: source) else { return true }
        counts.thumbnails += 1
        counts.bytes += bytes
        onThumbnail(output.output.path.appending(place), bytes)
        return true
      } catch {
        counts.failed += 1
        onError(error)
        return false
      }
    }
    forEachRemembered { source, relative, state in
      let isGone = state == .gone
      if state != .gone, state != .there { counts.outOfReach += 1 }
      var isClean = true
      for output in removers {
        let places =
          placesOfOtherSizes(of: relative, in: output.output)
          + (isGone ? self.places(of: source.path, relative, in: output.output) : [])
        for place in places where !remove(place, of: source.path, in: output) { isClean = false }
      }
      if isGone, isClean, !isDryRun { source.forget() }
    }
    return counts
  }

  /// Passes the sources in the ledgers, with their paths below the tree, and whether they are gone.
  private func forEachRemembered(
    _ body: (RememberedSources.Remembered, _ relative: Path, VanishedSources.State) -> Void
  ) {
    guard let tree = walker.tree.root else { preconditionFailure("a job without a tree refuses to prune") }
    var vanished = VanishedSources()
    for output in outputs {
      // That it can be read is known.
      try? RememberedSources(in: output.path).visit { source in
        if isStopping { return false }
        if let relative = source.path.below(tree), !relative.isEmpty {
          body(source, relative, vanished.state(of: source.path))
        }
        return true
      }
    }
  }

  /// The places of a source's thumbnails in the sizes of earlier runs. None where a source has the place now: a folder of
  /// photos may have the name of a size.
  private func placesOfOtherSizes(of relative: Path, in output: ThumbnailOutput) -> [Path] {
    let folders = output.earlier.left.compactMap { $0.folder.below(output.path) }
    if folders.isEmpty { return [] }
    return folders.flatMap { folder in output.placesOfOtherSize(of: relative).map { folder.appending($0) } }.filter {
      place in
      !(output.sizeFolders == [Path()] && hasSource(for: place, besides: relative))
    }
  }

  /// Whether a source that exists has a place, other than this one.
  private func hasSource(for place: Path, besides relative: Path) -> Bool {
    guard let tree = walker.tree.root else { return false }
    return OutputPlan.claims(to: place).contains { $0 != relative && FileStatus.exists(tree.appending($0)) }
  }

  /// The places of a source's thumbnails in an output. None where another source has the place: `scan.png.jpg` where
  /// `scan.png` is gone.
  private func places(of path: Path, _ relative: Path, in output: ThumbnailOutput) -> [Path] {
    let place = OutputPlan.place(of: relative)
    let source = Source(path: path, relativePath: relative, argument: 0, origin: .folder)
    if output.isMirrored, hasSource(for: place, besides: relative) { return [] }
    return output.options.sizes.map { output.place(of: source, place, size: $0) }
  }
}
