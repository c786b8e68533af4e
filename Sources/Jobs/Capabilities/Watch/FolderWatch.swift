import BoundedQueue
import Files
import Foundation
import JobSettings
import Places
import Sourcing

/// Follows the changes in the source folders of a job, and makes, renews and removes thumbnails as files come and go.
///
/// Each folder is watched before the walk reads it (``SourceWatch/entered(_:argument:)``). After the walk, the thread
/// of the job follows the changes. A `FolderWatcher` reads them from the kernel on a thread of its own. They are only
/// paths at which something happened (``PendingChanges``): when a path has not changed for a while, the job looks at
/// what is there, and adds a source, walks a folder, or removes thumbnails (`Removal`). So it does not matter in which
/// order changes are reported, or whether a walk and a change find the same file. Everything that is kept is bounded:
/// the pending paths, and the sources that have no thumbnail (``PassedOverFiles``).
///
/// *Concurrency*: from any thread.
final class FolderWatch: JobCapability {
  private let settings: JobSettings
  private let watch: SourceWatch
  private let walker: SourceWalker
  private let outputs: [ThumbnailOutput]
  private let plan: OutputPlan
  private let ledger: JobLedger
  private let pruning: Pruning
  private let onNote: @Sendable (WatchNote) -> Void

  convenience init?(_ parts: JobParts) {
    guard let watch = parts.settings.watch, let ledger = parts.capabilities.first(of: JobLedger.self),
      let pruning = parts.capabilities.first(of: Pruning.self)
    else { return nil }
    self.init(watch, parts.settings, parts.walker, parts.outputs, parts.plan, ledger, pruning) {
      [onEvent = parts.onEvent] in onEvent(.watch($0))
    }
  }

  /// - Parameters:
  ///   - ledger: remembers the sources whose thumbnails are to be removed.
  ///   - onNote: receives what is to be said about the folders.
  init(
    _ watch: WatchSettings, _ settings: JobSettings, _ walker: SourceWalker, _ outputs: [ThumbnailOutput],
    _ plan: OutputPlan, _ ledger: JobLedger, _ pruning: Pruning, onNote: @escaping @Sendable (WatchNote) -> Void
  ) {
    (self.settings, self.walker, self.outputs, self.plan) = (settings, walker, outputs, plan)
    (self.ledger, self.pruning, self.onNote) = (ledger, pruning, onNote)
    self.watch = SourceWatch(watch, walker)
  }

  /// The longest pause of the thread that follows the changes. Then it looks for source folders that are gone or back, and
  /// for operations that memory pressure has cancelled.
  private static let longestPause = Duration.seconds(1)

  /// The longest time without a sign of life, if no operation runs that the thread may wait for.
  private static let longestAbsence = Duration.seconds(30)

  /// Whether the thread of the job follows the changes, or waits for operations that run or are paused.
  func isFollowing(on queue: BoundedOperationQueue) -> Bool {
    .now - watch.lastSign < Self.longestAbsence || queue.counters.running > 0
      || !queue.snapshot(waitingLimit: 0).pauses.isEmpty
  }

  func tell(_ status: inout JobStatus, waitingLimit: Int) { status.watch = watch.counters }

  // MARK: Moments

  func placed(_ source: Source, _ placement: OutputPlan.Placement, isAgain: Bool) -> Bool {
    switch placement {
    // Each is told once of the one that gets its place.
    case .taken: return watch.loses(source.path) || !isAgain
    case .place: if isAgain { watch.wins(source.path) }
    case .duplicate, .reserved: break
    }
    return true
  }

  func recall(_ candidate: inout Candidate, in engine: Engine) {
    guard let status = candidate.status, let note = watch.found(candidate.source.path, status) else { return }
    onNote(note)
  }

  func admit(_ candidate: inout Candidate, in engine: Engine) {
    if candidate.isAgain, candidate.isUpToDate { candidate.verdict = .passOver }
  }

  func submitted(_ source: Source) { watch.began(source.path) }

  func left(_ source: Source) { _ = watch.ended(source.path) }

  func settle(_ end: inout SourceEnd) {
    let path = end.source.path
    watch.note(path, isFruitless: end.result.isFruitless, read: end.findings.file)
    if !watch.ended(path), case .failed = end.result { end.result = .gone }
  }

  func ended(_ end: SourceEnd) {
    if end.operation == nil, end.result.isFruitless { watch.note(end.source.path, isFruitless: true, read: nil) }
  }

  func entered(_ folder: OpenFolder, argument: Int) { watch.entered(folder, argument: argument) }

  func stopping(_ cause: StopCause) { watch.endWaiting() }

  // MARK: Following

  /// What following the changes needs.
  private struct Course {
    let engine: Engine
    let removal: Removal
  }

  /// Walks the sources, and then follows the changes in their folders until the job is stopped.
  func walk(_ engine: Engine) -> SourceWalk? {
    // Without one of them, it would not be known which thumbnails are its own.
    guard settings.sources.allSatisfy(\.exists), let tree = walker.tree.root else { return nil }
    // At once, because the next watch of this tree may remove what it mirrors, and this one may be killed. Where the
    // thumbnails of another tree are, the note of that tree protects them.
    do throws(OutputError) {
      for output in outputs where output.earlier.lastTree == nil { try output.note(tree: tree) }
    } catch {
      engine.stop(.outputFailed(error))
      return SourceWalk(isComplete: false)
    }
    let course = Course(
      engine: engine,
      removal: Removal(in: outputs, tree: tree) { [pruning] in pruning.removed($0, $1, engine) })
    watch.begin()
    defer { watch.end() }
    var counters = WalkCounters()
    for root in watch.roots { counters = walkAll(root, course, isFirst: true, sweeps: settings.prune != nil) }
    engine.tryPostponed()
    watch.countWalk()
    if !engine.isStopping { onNote(.ready(folders: watch.counters.folders)) }
    var known = watch.unmounted
    var remembered: Int?
    while !engine.isStopping {
      // Once what was met is made, because only folders with known photos count. The watch may be killed at any time.
      let counters = engine.queue.counters
      if counters.running + counters.waiting == 0, counters.submitted != remembered {
        pruning.rememberDisks()
        remembered = counters.submitted
      }
      if counters.running + counters.waiting == 0 { engine.rest() }
      engine.resubmit()
      // Those that were met since.
      engine.tryPostponed()
      follow(course, &known)
      watch.wait(upTo: min(Self.longestPause, watch.pollPause))
    }
    // Whoever cancels a watch, or ends it otherwise than in order, wants the rest to be made another time.
    let isInOrder = engine.state.withLock { $0.stopCause == .startNothingNew }
    return SourceWalk(counters: counters, isComplete: isInOrder && watch.isIdle)
  }

  /// Does what is due.
  private func follow(_ course: Course, _ unmounted: inout Set<Path>) {
    for (root, isBack, isSame) in watch.checkRoots() {
      onNote(isBack ? .back(root.path) : .gone(root.path))
      // If another folder has its path now, it is not known what became of the photos.
      if isBack { walkAll(root, course, sweeps: isSame) }
    }
    let now = watch.unmounted
    for path in unmounted.subtracting(now) { watch.lookAgain(at: path) }
    unmounted = now
    if watch.takeWalk() {
      onNote(.overflow)
      watch.restart()
      watch.countWalk()
      for root in watch.roots where !root.isGone { walkAll(root, course, sweeps: true) }
    }
    for root in watch.duePolls where !course.engine.isStopping { walkAll(root, course, sweeps: true) }
    watch.lookAtLinks()
    for path in watch.takeDue() {
      watch.giveSign()
      if course.engine.isStopping { watch.lookAgain(at: path) } else { look(at: path, course) }
    }
  }

  /// Walks a source folder.
  ///
  /// - Parameters:
  ///   - isFirst: whether it is the first walk, which counts what is up to date.
  ///   - sweeps: whether to remove afterwards the thumbnails of sources that are gone.
  @discardableResult
  private func walkAll(
    _ root: WatchedRoot, _ course: Course, isFirst: Bool = false, sweeps: Bool = false
  ) -> WalkCounters {
    let start = ContinuousClock.now
    let counters = walk(.argument(root.argument), course, isFirst: isFirst)
    if course.engine.isStopping { return counters }
    if sweeps { sweep(root, course, isFirst: isFirst) }
    let note = watch.walked(root, folders: counters.folders, took: .now - start)
    if let note { onNote(note) }
    return counters
  }

  /// Removes the thumbnails whose sources are gone, unless that might remove those of sources that are not.
  ///
  /// - Parameter isFirst: whether no mounted file system was seen yet. Then an empty folder may be the place of one.
  private func sweep(_ root: WatchedRoot, _ course: Course, isFirst: Bool) {
    if let refusal = pruning.refusal(root.path, settings.prune ?? .yes) {
      if watch.says(refusal) { onNote(.notSwept(refusal)) }
      return
    }
    removeGone(below: root.path, course, isFirst: isFirst)
  }

  /// Removes the thumbnails of sources below a folder that are gone.
  private func removeGone(below folder: Path, _ course: Course, isFirst: Bool = false) {
    // Most changes are of files, and no source is below one.
    guard ledger.knows(anyBelow: folder) else { return }
    let states: [VanishedSources.State] = isFirst ? [.gone] : [.gone, .missingInEmptyFolder]
    try? pruning.forEachRemembered(below: folder) { source, state in
      watch.giveSign()
      // The watch knows its folders by the paths that the job was given.
      let path = folder.absolute.flatMap { source.path.below($0) }.map { folder.appending($0) } ?? source.path
      guard states.contains(state), !watch.isOutOfSight(path) else { return }
      if let source = self.source(at: path) { course.engine.vanished(source, andBelow: false) }
      if course.removal.removeAll(of: source.path, first: source.first) {
        source.forget()
        ledger.forget(source.path)
      }
    }
  }

  /// A source at a path below one of the watched folders; nil for other paths.
  private func source(at path: Path) -> Source? {
    guard let root = watch.root(of: path), let relative = path.below(root.path) else { return nil }
    return Source(
      path: path, relativePath: root.mirrored.appending(relative), argument: root.argument, origin: .folder)
  }

  @discardableResult
  private func walk(_ scope: SourceWalker.Scope, _ course: Course, isFirst: Bool = false) -> WalkCounters {
    // What a walk that is stopped has not reached is work that is left.
    defer { if course.engine.isStopping { watch.needWalk() } }
    return walker.walk(
      scope,
      meanwhile: {
        watch.giveSign()
        course.engine.resubmit()
      },
      shouldStop: { course.engine.isStopping },
      onFolder: course.engine.entered,
      onError: { error in
        if error.kind != .vanished, watch.reports(error) { course.engine.report(error) }
      },
      visit: { source in
        if !isFirst, let root = watch.root(of: source.path),
          let rest = watch.rest(of: source.path, in: root)
        {
          watch.lookAgain(at: source.path, quiet: rest)
          return .goOn
        }
        return (isFirst ? course.engine.add(source) : addAgain(source, course)) ? .goOn : .stop
      })
  }

  /// Submits an operation for a source that was seen before, or may have been, unless that is needless.
  ///
  /// - Returns: false if the job is stopping.
  private func addAgain(_ source: Source, _ course: Course) -> Bool {
    // That a source had no place may have ended without a change of it.
    if watch.passesOver(source.path), !watch.hasLost(source.path) { return true }
    // One operation for a source at a time: two would write to one place.
    if watch.isUnderWay(source.path) {
      watch.lookAgain(at: source.path)
      return true
    }
    return course.engine.add(source, isAgain: true)
  }

  /// Looks what is at a path where something has changed, and makes or removes thumbnails.
  private func look(at path: Path, _ course: Course) {
    guard let root = watch.root(of: path), let relative = path.below(root.path), !root.isGone else { return }
    let mirrored = root.mirrored.appending(relative)
    let source = Source(path: path, relativePath: mirrored, argument: root.argument, origin: .folder)
    switch FileStatus.of(path, followingLinks: walker.followsLinks) {
    case .success(let status) where status.kind == .folder:
      if !relative.isEmpty {
        remove(path, mirrored, course)
        course.engine.vanished(source, andBelow: false)
      }
      walk(.folder(path, root.argument), course)
      // Another folder may have had this path before.
      if !relative.isEmpty { removeGone(below: path, course) }
    case .success(let status) where status.kind == .regular:
      guard walker.reaches(.regular, at: relative, below: root.path) else { return }
      // A folder may have had this name before.
      removeGone(below: path, course)
      _ = addAgain(source, course)
      nameLosers(against: path, place: mirrored, course)
    case .success:
      if !relative.isEmpty {
        remove(path, mirrored, course)
        course.engine.vanished(source, andBelow: true)
      }
    case .failure(let error):
      guard !relative.isEmpty, walker.filter.reaches(folder: relative.parent), !watch.isOutOfSight(path) else {
        return
      }
      var vanished = VanishedSources()
      guard [.gone, .missingInEmptyFolder].contains(vanished.state(of: path)) else {
        // It may only be out of reach. No change tells when that ends.
        if error != .noSuchFileOrDirectory { watch.lookAgain(at: path, quiet: PendingChanges.longestWait) }
        return
      }
      course.engine.vanished(source, andBelow: true)
      if walker.filter.reaches(file: relative) { remove(path, mirrored, course) } else { ledger.forget(path) }
      if walker.filter.reaches(folder: relative) { removeGone(below: path, course) }
    }
  }

  /// Tells of the sources that had the place of this one so far: of `scan.png.jpg` when `scan.png` has appeared.
  private func nameLosers(against source: Path, place: Path, _ course: Course) {
    for path in plan.rivals(of: source, for: place) {
      guard let rival = self.source(at: path) else { continue }
      if case .taken = plan.placement(of: rival) { _ = addAgain(rival, course) }
    }
  }

  /// Removes the thumbnails of a file that is gone, unless another source gets their place and replaces them: `scan.png.jpg`
  /// where `scan.png` was.
  private func remove(_ path: Path, _ mirrored: Path, _ course: Course) {
    let heir = plan.source(for: mirrored)
    if let heir {
      watch.note(heir, isFruitless: false, read: nil)
      watch.lookAgain(at: heir)
    }
    // Where a pattern names the thumbnails, or they have several formats, both may have places.
    if heir == nil || !plan.isMirrored || plan.hasSeveralFormats, let absolute = path.absolute {
      course.removal.removeAll(of: absolute)
    }
    ledger.forget(path)
  }
}
