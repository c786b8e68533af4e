import Files
import Foundation
import JobSettings
import Ledger
import Locking
import Marks
import Places
import Sourcing
import Synchronization

/// Tells which thumbnails may be removed, and removes them: those of sources that are gone, and those of sizes that a job
/// does not have. It remembers the disks of the source folders, on which that depends.
///
/// *Concurrency*: from any thread.
final class Pruning: ResultRemover {
  private let settings: JobSettings
  private let walker: SourceWalker
  private let outputs: [ThumbnailOutput]
  /// Nil if no source exists.
  private let ledger: JobLedger?
  private let seenDisks = SeenDisks()
  private let isEnding = Atomic(false)
  /// Guarded by its lock, which is held while the ledgers are read.
  private let lastDisks = Locked<(time: ContinuousClock.Instant, others: [Path]?)?>(nil)
  private let onRemoval: @Sendable (Path, Result<Int, OutputError>) -> Void

  convenience init?(_ parts: JobParts) {
    self.init(parts.settings, parts.walker, parts.outputs, parts.capabilities.first(of: JobLedger.self)) {
      [onEvent = parts.onEvent] in onEvent(.removal($0, $1))
    }
  }

  /// - Parameter onRemoval: receives each thumbnail that is removed before the end of the job.
  init(
    _ settings: JobSettings, _ walker: SourceWalker, _ outputs: [ThumbnailOutput], _ ledger: JobLedger?,
    onRemoval: @escaping @Sendable (Path, Result<Int, OutputError>) -> Void
  ) {
    (self.settings, self.walker, self.outputs, self.ledger) = (settings, walker, outputs, ledger)
    self.onRemoval = onRemoval
  }

  private var isStopping: Bool { isEnding.load(ordering: .relaxed) }

  // MARK: Moments

  func entered(_ folder: OpenFolder, argument: Int) { seenDisks.entered(folder, argument: argument) }

  func examine(_ operation: SourceOperation, _ ending: inout SourceTask.Ending, in engine: Engine) {
    guard case .failed(.output(let refusal)) = ending, refusal.kind == .blocked else { return }
    if makeRoom(for: operation, engine) { ending = .unblocked }
  }

  func stopping(_ cause: StopCause) { isEnding.store(true, ordering: .relaxed) }

  func finish(_ engine: Engine, _ walk: SourceWalk?) { if walk?.isComplete == true { rememberDisks() } }

  // MARK: Removing

  /// What may be removed after this run. Each source folder is judged by itself.
  ///
  /// - Parameter workRemains: whether the run ended before all its sources were done.
  func plan(after tally: JobTally, workRemains: Bool) -> PrunePlan {
    guard walker.tree.root != nil, let ledger, tally.missingArguments == 0, tally.walkErrors == 0 else {
      return PrunePlan(folders: [], refusals: [.unreadable])
    }
    if workRemains { return PrunePlan(folders: [], refusals: [.workRemains]) }
    if let problem = ledger.problem { return PrunePlan(folders: [], refusals: [.noLedger(problem)]) }
    var (folders, refusals) = ([Path](), [PruneRefusal]())
    for case .path(let path) in settings.sources where isFolder(path) {
      if let refusal = refusal(path, settings.prune ?? .yes) {
        refusals.append(refusal)
      } else {
        folders.append(path)
      }
    }
    return PrunePlan(folders: folders, refusals: refusals)
  }

  /// Why nothing of a source folder may be removed after a walk; nil if it may.
  func refusal(_ folder: Path, _ mode: PruneMode) -> PruneRefusal? {
    // The text of a path that has `..` after a link leads elsewhere than the system.
    guard let absolute = folder.absolute, FileIdentity(of: folder) == FileIdentity(of: absolute) else {
      return .unclearPath(folder)
    }
    var (known, gone, there) = (0, 0, 0)
    do throws(LedgerError) {
      try forEachRemembered(below: folder) { _, state in
        known += 1
        if state == .gone { gone += 1 }
        if state == .there { there += 1 }
      }
      if mode == .force { return nil }
      if known > 0, VanishedSources.isEmpty(folder) { return .emptySource(folder) }
      if gone > 0, there == 0 { return .noneFound(folder, known: known) }
      let disk = DiskIdentity(at: folder)?.text
      if known > 0, try rememberedDisks()[absolute]?.contains(where: { $0 != disk }) == true {
        return .otherFolder(folder)
      }
    } catch {
      return .noLedger(error)
    }
    return mode == .yes && gone > known - gone ? .mostGone(folder, gone: gone, known: known) : nil
  }

  /// The thumbnails of sources that are gone, after a run over whole folders that removes none.
  ///
  /// The ledger has every source that a run has found. If it does not have more, none is gone, and nothing is looked at.
  func gone(after tally: JobTally, workRemains: Bool) -> GoneResults? {
    guard let tree = walker.tree.root, let ledger, ledger.problem == nil, !settings.dryRun, settings.prune == nil,
      settings.watch == nil, settings.shard == nil, tally.missingArguments == 0, tally.walkErrors == 0, !workRemains
    else { return nil }
    let folders = settings.sources.compactMap { if case .path(let path) = $0, isFolder(path) { path } else { nil } }
    if folders.count == settings.sources.count {
      let known = folders.map { $0.absolute.flatMap(ledger.countMade) }
      // Folders in each other are counted twice, and then looked at.
      if !known.contains(nil), known.reduce(0, { $0 + ($1 ?? 0) }) == tally.made + tally.upToDate { return nil }
    }
    if outputs.contains(where: \.factKinds.areInPhoto) { return goneByName(below: folders) }
    let found = Locked<Set<Path>>([])
    let removal = Removal(in: outputs, tree: tree, isDryRun: true) { path, result in
      if case .success = result { found.withLock { _ = $0.insert(path) } }
    }
    var refusals: [PruneRefusal] = []
    for folder in folders where !isStopping {
      let before = found.withLock { $0.count }
      do throws(LedgerError) {
        try forEachRemembered(below: folder) { source, state in
          if state == .gone { removal.removeAll(of: source.path, first: source.first) }
        }
      } catch {
        return nil
      }
      // `--prune` would say more of a folder that it cannot judge at all.
      if found.withLock({ $0.count }) > before, let refusal = refusal(folder, .yes) { refusals.append(refusal) }
    }
    let count = found.withLock { $0.count }
    if count == 0 || isStopping || refusals.contains(where: { $0.wayOn == nil }) { return nil }
    let strongest = refusals.first { $0.wayOn == .force } ?? refusals.first
    return GoneResults(thumbnails: count, mode: strongest?.wayOn ?? .yes, refusal: strongest)
  }

  /// The same where the names of the thumbnails tell more than the paths of their sources: only how many there are is known.
  private func goneByName(below folders: [Path]) -> GoneResults? {
    var gone: [Path: Int] = [:]
    for folder in folders where !isStopping {
      // Those of folders that cannot be read are not known.
      try? forEachRemembered(below: folder) { source, state in if state == .gone { gone[source.path] = source.count } }
    }
    let count = gone.values.reduce(0, +)
    return count == 0 ? nil : GoneResults(thumbnails: count, mode: .yes, refusal: nil, areFound: false)
  }

  private func isFolder(_ path: Path) -> Bool { !FileStatus.isRegular(path, followingLinks: true) }

  /// Removes the thumbnails of sources that are gone, and those of earlier runs with other sizes. It removes only files
  /// with thumbjob's mark, and only of sources that the ledger has: a thumbnail of unknown origin stays.
  ///
  /// - Parameters:
  ///   - isDryRun: whether only to tell what would be removed.
  ///   - onThumbnail: receives the path of each thumbnail, and its bytes.
  ///   - onError: receives each error; the others are removed all the same.
  /// - Returns: the counts so far if the job is stopped meanwhile.
  func prune(
    _ plan: PrunePlan, isDryRun: Bool, onThumbnail: @escaping @Sendable (Path, _ bytes: Int) -> Void,
    onError: @escaping @Sendable (OutputError) -> Void
  ) -> PruneCounts {
    guard let tree = walker.tree.root else { preconditionFailure("a job without a tree plans no removals") }
    let counts = Locked(PruneCounts())
    let removal = Removal(in: outputs, tree: tree, isDryRun: isDryRun) { path, result in
      counts.withLock { $0.count(result) }
      switch result {
      case .success(let bytes): onThumbnail(path, bytes)
      case .failure(let error): onError(error)
      }
    }
    for folder in plan.folders where !isStopping {
      // That it can be read is known.
      try? forEachRemembered(below: folder) { source, state in
        switch state {
        case .gone: if removal.removeAll(of: source.path, first: source.first), !isDryRun { source.forget() }
        case .there: removal.removeOtherSizes(of: source.path)
        case .missingInEmptyFolder, .missingBehindLink, .onOtherDisk: counts.withLock { $0.outOfReach += 1 }
        }
      }
      if settings.prune == .force, !isDryRun { rememberDisks(below: folder, replacing: true) }
    }
    return counts.withLock { $0 }
  }

  /// Removes what is in the way of a source's thumbnails, if it is left of sources that are gone: the thumbnail of a photo
  /// `a.jpg` where now a folder `a.jpg` has photos, and, where the job prunes, those of a folder `a.jpg` where now a photo is.
  /// Where it prunes, thumbnails of earlier sizes make room for folders as well.
  ///
  /// - Returns: whether the source is to be tried again: nothing is in the way any more, or less.
  private func makeRoom(for operation: SourceOperation, _ engine: Engine) -> Bool {
    var isOpen: Bool { outputs.allSatisfy { $0.isOpen(operation.source, operation.place) } }
    // What is in the way may be of a source anywhere, and so on any disk that is remembered.
    guard let tree = walker.tree.root, let otherDisks = try? otherDisks(around: "/") else { return isOpen }
    let removal = Removal(in: outputs, tree: tree) { [weak self] in self?.removed($0, $1, engine) }
    var vanished = VanishedSources(followsLinks: walker.followsLinks, otherDisks: otherDisks)
    func remembered(_ key: SourceKey) -> [Path] { ledger?.sources(withKey: key) ?? [] }
    let freed = removal.removeAbove(operation.place, of: operation.source, remembered: remembered) { source, isOfJob in
      switch vanished.state(of: source) {
      case .gone: true
      case .there: !isOfJob && prunes(source)
      case .missingInEmptyFolder, .missingBehindLink, .onOtherDisk: false
      }
    }
    for source in freed where vanished.state(of: source) == .gone {
      // It is not known where the thumbnails of a source outside the tree are.
      if source.below(tree) != nil, !hasThumbnails(of: source) { ledger?.forget(source) }
    }
    for below in operationFolders(operation).map(tree.appending) where prunes(below) {
      // That the ledgers can be read is known.
      try? forEachRemembered(below: below) { source, state in
        if state == .gone, removal.removeAll(of: source.path, first: source.first) { source.forget() }
      }
    }
    return !freed.isEmpty || isOpen
  }

  /// The paths of sources, from the tree, whose thumbnails may be in a folder that is where one of this operation belongs.
  private func operationFolders(_ operation: SourceOperation) -> Set<Path> {
    Set(outputs.flatMap { output in output.options.formats.map { operation.place.named(as: $0) } })
  }

  /// Whether thumbnails of a source that is gone are left: such as those of other sizes, which only pruning removes.
  func hasThumbnails(of source: Path) -> Bool {
    guard let tree = walker.tree.root else { return true }
    let isFound = Locked(false)
    Removal(in: outputs, tree: tree, isDryRun: true) { _, _ in isFound.withLock { $0 = true } }.removeAll(of: source)
    return isFound.withLock { $0 }
  }

  /// Whether the job may remove what is left of sources at an absolute path, or below it.
  private func prunes(_ path: Path) -> Bool {
    guard let mode = settings.prune else { return false }
    for case .path(let folder) in settings.sources {
      if let absolute = folder.absolute, path.below(absolute) != nil { return refusal(folder, mode) == nil }
    }
    return false
  }

  /// Remembers which disks the source folders are on, unless others were there before. A folder without photos is not
  /// remembered: its disk may not be mounted yet.
  func rememberDisks() {
    if settings.dryRun { return }
    for case .path(let path) in settings.sources { rememberDisks(below: path, replacing: false) }
  }

  private func rememberDisks(below folder: Path, replacing: Bool) {
    guard let ledger else { return }
    let met = seenDisks.all.filter { path, _ in
      path.below(folder) != nil && (replacing || ledger.knows(anyBelow: path))
    }
    ledger.record(disks: met, replacing: replacing)
    guard replacing, let absolute = folder.absolute else { return }
    // Also where a disk was, and none is any more.
    for output in outputs { try? LedgerSources(in: output.path).replaceDisks(below: absolute) }
  }

  /// The disks that the ledgers of all outputs and of all parts have, by absolute path: a disk that only the run of a part
  /// has met counts as well.
  private func rememberedDisks() throws(LedgerError) -> [Path: Set<String>] {
    var found = try (ledger?.disks() ?? [:]).mapValues { Set([$0]) }
    for output in outputs {
      do throws(LedgerError) {
        found.merge(try LedgerSources(in: output.path).disks()) { $0.union($1) }
      } catch  where error.kind == .missing {
        // The ledger of the job is in its first output.
      }
    }
    return found
  }

  /// Passes the sources below a folder that the ledgers have, and whether they are gone.
  ///
  /// - Throws: `LedgerError` if a ledger cannot be read.
  func forEachRemembered(
    below folder: Path, _ body: (LedgerSources.Remembered, VanishedSources.State) -> Void
  ) throws(LedgerError) {
    guard let absolute = folder.absolute else { return }
    // Whether a folder's photos are there is judged by all that are known, and so not by the few that were written first.
    ledger?.write()
    var vanished = VanishedSources(
      followsLinks: walker.followsLinks, otherDisks: try otherDisks(around: absolute))
    for output in outputs {
      do throws(LedgerError) {
        try LedgerSources(in: output.path).visit(below: absolute) { source in
          body(source, vanished.state(of: source.path, source.version))
          return !isStopping
        }
      } catch  where error.kind == .missing {
        // The ledger of the job is in its first output.
      }
    }
  }

  /// The mount points in a folder, and those that it is in, that have another disk now, or none. Not the folder itself.
  private func otherDisks(around folder: Path) throws(LedgerError) -> [Path] {
    if settings.prune == .force { return [] }
    return try rememberedDisks().filter { path, disks in
      guard path != folder, path.below(folder) != nil || folder.below(path) != nil else { return false }
      let now = DiskIdentity(at: path)?.text
      return disks.contains { $0 != now }
    }.map(\.key)
  }

  /// Whether a source that is remembered is gone.
  ///
  /// - Parameters:
  ///   - source: absolute.
  ///   - version: of the file that was there.
  func isGone(_ source: Path, _ version: LedgerEntry.Version?) -> Bool {
    var vanished = VanishedSources(followsLinks: walker.followsLinks)
    // Most are there. Only for others are the ledgers read.
    guard vanished.state(of: source, version) == .gone, let otherDisks = otherDisksLately else { return false }
    vanished = VanishedSources(followsLinks: walker.followsLinks, otherDisks: otherDisks)
    return vanished.state(of: source, version) == .gone
  }

  /// The mount points that have another disk now, or none, as they were a second ago or later: where a folder was renamed, each
  /// of its photos asks. Nil if that is not known.
  private var otherDisksLately: [Path]? {
    lastDisks.withLock { last in
      if let last, .now - last.time < .seconds(1) { return last.others }
      let others = try? otherDisks(around: "/")
      last = (.now, others)
      return others
    }
  }

  /// Counts and tells of a thumbnail that was removed before the end of the job.
  func removed(_ path: Path, _ result: Result<Int, OutputError>, _ engine: Engine) {
    if case .success = result { engine.state.withLock { $0.tally.removed += 1 } }
    onRemoval(path, result)
  }
}
