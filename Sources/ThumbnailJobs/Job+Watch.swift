import Files
import Foundation

// Watching: from changes in the source folders to new, renewed and removed thumbnails.
extension Job {
  /// The longest pause of the thread that follows the changes. Then it looks for source folders that are gone or back, and
  /// for operations that memory pressure has cancelled.
  private static let longestPause = Duration.seconds(1)

  /// The longest time without a sign of life, if no operation runs that the thread may wait for.
  private static let longestAbsence = Duration.seconds(30)

  /// Whether a job that watches its folders follows their changes, or waits for operations that run or are paused. False
  /// also for a job that does not watch.
  public var isFollowing: Bool {
    guard let watch else { return false }
    return .now - watch.lastSign < Self.longestAbsence || queue.counters.running > 0
      || !queue.snapshot(waitingLimit: 0).pauses.isEmpty
  }

  /// What following the changes needs.
  private struct Course {
    let watch: SourceWatch
    let plan: OutputPlan
    let removal: Removal
  }

  /// Walks the sources, and then follows the changes in their folders until the job is stopped.
  ///
  /// - Returns: the counters of the first walk, and whether nothing was left when the job was stopped.
  func watchSources(_ watch: SourceWatch) -> (WalkCounters, isComplete: Bool) {
    // Without one of them, it would not be known which thumbnails are its own.
    guard settings.sources.allSatisfy(\.exists) else { return walkSources() }
    let course: Course
    do throws(OutputError) {
      guard let tree = walker.tree.root else { return walkSources() }
      course = Course(
        watch: watch, plan: shared.owners.plan,
        removal: Removal(in: outputs, tree: tree) { [weak self] in self?.removed($0, $1) })
      // At once, because the next watch of this tree may remove what it mirrors, and this one may be killed. Where the
      // thumbnails of another tree are, the note of that tree protects them.
      for output in outputs where output.earlier.lastTree == nil { try output.note(tree: walker.tree.root) }
    } catch {
      stop(.outputFailed(error))
      return (WalkCounters(), false)
    }
    watch.begin()
    defer { watch.end() }
    var counters = WalkCounters()
    for root in watch.roots { counters = walkAll(root, course, isFirst: true, sweeps: settings.prune != nil) }
    trySuspects()
    watch.countWalk()
    if !isStopping { onEvent(.watch(.ready(folders: watch.counters.folders))) }
    var known = watch.unmounted
    var remembered: Int?
    while !isStopping {
      // Once what was met is made, because only folders with known photos count. The watch may be killed at any time.
      let counters = queue.counters
      if counters.running + counters.waiting == 0, counters.submitted != remembered {
        rememberDisks()
        remembered = counters.submitted
      }
      resubmit()
      // Those that were met since.
      trySuspects()
      follow(course, &known)
      watch.wait(upTo: min(Self.longestPause, watch.pollPause))
    }
    // Whoever cancels a watch, or ends it otherwise than in order, wants the rest to be made another time.
    let isInOrder = state.withLock { $0.stopCause == .startNothingNew }
    return (counters, isInOrder && watch.isIdle)
  }

  /// Does what is due.
  private func follow(_ course: Course, _ unmounted: inout Set<Path>) {
    let watch = course.watch
    for (root, isBack, isSame) in watch.checkRoots() {
      onEvent(.watch(isBack ? .back(root.path) : .gone(root.path)))
      // If another folder has its path now, it is not known what became of the photos.
      if isBack { walkAll(root, course, sweeps: isSame) }
    }
    let now = watch.unmounted
    for path in unmounted.subtracting(now) { watch.lookAgain(at: path) }
    unmounted = now
    if watch.takeWalk() {
      onEvent(.watch(.overflow))
      watch.restart()
      watch.countWalk()
      for root in watch.roots where !root.isGone { walkAll(root, course, sweeps: true) }
    }
    for root in watch.duePolls where !isStopping { walkAll(root, course, sweeps: true) }
    watch.lookAtLinks()
    for path in watch.takeDue() {
      watch.giveSign()
      if isStopping { watch.lookAgain(at: path) } else { look(at: path, course) }
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
    if isStopping { return counters }
    if sweeps { sweep(root, course, isFirst: isFirst) }
    let note = course.watch.walked(root, folders: counters.folders, took: .now - start)
    if let note { onEvent(.watch(note)) }
    return counters
  }

  /// Removes the thumbnails whose sources are gone, unless that might remove those of sources that are not.
  ///
  /// - Parameter isFirst: whether no mounted file system was seen yet. Then an empty folder may be the place of one.
  private func sweep(_ root: WatchedRoot, _ course: Course, isFirst: Bool) {
    if let refusal = pruneRefusal(root.path, settings.prune ?? .yes) {
      if course.watch.says(refusal) { onEvent(.watch(.notSwept(refusal))) }
      return
    }
    removeGone(below: root.path, course, isFirst: isFirst)
  }

  /// Removes the thumbnails of sources below a folder that are gone.
  private func removeGone(below folder: Path, _ course: Course, isFirst: Bool = false) {
    // Most changes are of files, and no source is below one.
    guard ledger?.knows(anyBelow: folder) == true else { return }
    let states: [VanishedSources.State] = isFirst ? [.gone] : [.gone, .missingInEmptyFolder]
    try? forEachRemembered(below: folder) { source, state in
      course.watch.giveSign()
      // The watch knows its folders by the paths that the job was given.
      let path = folder.absolute.flatMap { source.path.below($0) }.map { folder.appending($0) } ?? source.path
      guard states.contains(state), !course.watch.isOutOfSight(path) else { return }
      if course.removal.removeAll(of: source.path, first: source.first) {
        source.forget()
        ledger?.forget(source.path)
      }
    }
  }

  @discardableResult
  private func walk(_ scope: SourceWalker.Scope, _ course: Course, isFirst: Bool = false) -> WalkCounters {
    // What a walk that is stopped has not reached is work that is left.
    defer { if isStopping { course.watch.needWalk() } }
    return walker.walk(
      scope,
      meanwhile: {
        course.watch.giveSign()
        resubmit()
      },
      shouldStop: { isStopping },
      onFolder: { folder, argument in
        course.watch.entered(folder, argument: argument)
        self.seenDisks.entered(folder, argument: argument)
      },
      onError: { error in
        if error.kind != .vanished, course.watch.reports(error) { self.report(error) }
      },
      visit: { source in
        if !isFirst, let root = course.watch.root(of: source.path),
          let rest = course.watch.rest(of: source.path, in: root)
        {
          course.watch.lookAgain(at: source.path, quiet: rest)
          return .goOn
        }
        return (isFirst ? add(source, course.plan) : addAgain(source, course)) ? .goOn : .stop
      })
  }

  /// Submits an operation for a source that was seen before, or may have been, unless that is needless.
  ///
  /// - Returns: false if the job is stopping.
  private func addAgain(_ source: Source, _ course: Course) -> Bool {
    // That a source had no place may have ended without a change of it.
    if course.watch.isFruitless(source.path), !course.watch.hasLost(source.path) { return true }
    // One operation for a source at a time: two would write to one place.
    if course.watch.isUnderWay(source.path) {
      course.watch.lookAgain(at: source.path)
      return true
    }
    let placement = course.plan.placement(of: source)
    if case .taken = placement, !course.watch.loses(source.path) { return true }
    if case .place(let place) = placement {
      course.watch.wins(source.path)
      let found = thumbnailState(of: source, at: place)
      if found.isUpToDate && found.refusal == nil { return true }
    }
    return add(source, course.plan)
  }

  /// Looks what is at a path where something has changed, and makes or removes thumbnails.
  private func look(at path: Path, _ course: Course) {
    guard let root = course.watch.root(of: path), let relative = path.below(root.path), !root.isGone else { return }
    let mirrored = root.mirrored.appending(relative)
    switch FileStatus.of(path, followingLinks: walker.followsLinks) {
    case .success(let status) where status.kind == .folder:
      if !relative.isEmpty { remove(path, mirrored, course) }
      walk(.folder(path, root.argument), course)
      // Another folder may have had this path before.
      if !relative.isEmpty { removeGone(below: path, course) }
    case .success(let status) where status.kind == .regular:
      guard walker.reaches(.regular, at: relative, below: root.path) else { return }
      // A folder may have had this name before.
      removeGone(below: path, course)
      _ = addAgain(Source(path: path, relativePath: mirrored, argument: root.argument, origin: .folder), course)
      nameLosers(against: path, place: OutputPlan.place(of: mirrored), course)
    case .success: if !relative.isEmpty { remove(path, mirrored, course) }
    case .failure(let error):
      guard !relative.isEmpty, walker.filter.reaches(folder: relative.parent), !course.watch.isOutOfSight(path) else {
        return
      }
      var vanished = VanishedSources()
      guard [.gone, .missingInEmptyFolder].contains(vanished.state(of: path)) else {
        // It may only be out of reach. No change tells when that ends.
        if error != .noSuchFileOrDirectory { course.watch.lookAgain(at: path, quiet: PendingChanges.longestWait) }
        return
      }
      if walker.filter.reaches(file: relative) { remove(path, mirrored, course) } else { ledger?.forget(path) }
      if walker.filter.reaches(folder: relative) { removeGone(below: path, course) }
    }
  }

  /// Tells of the sources that had the place of this one so far: of `scan.png.jpg` when `scan.png` has appeared.
  private func nameLosers(against source: Path, place: Path, _ course: Course) {
    for path in course.plan.rivals(of: source, for: place) {
      guard let root = course.watch.root(of: path), let relative = path.below(root.path) else { continue }
      let rival = Source(
        path: path, relativePath: root.mirrored.appending(relative), argument: root.argument, origin: .folder)
      if case .taken = course.plan.placement(of: rival) { _ = addAgain(rival, course) }
    }
  }

  /// Removes the thumbnails of a file that is gone, unless another source gets their place and replaces them: `scan.png.jpg`
  /// where `scan.png` was.
  private func remove(_ path: Path, _ mirrored: Path, _ course: Course) {
    if let heir = course.plan.source(for: OutputPlan.place(of: mirrored)) {
      course.watch.note(heir, isFruitless: false, read: nil)
      course.watch.lookAgain(at: heir)
    } else if let absolute = path.absolute {
      course.removal.removeAll(of: absolute)
    }
    ledger?.forget(path)
  }

  /// Tells of a thumbnail that was removed before the end of the job.
  func removed(_ path: Path, _ result: Result<Int, OutputError>) {
    if case .success = result { state.withLock { $0.tally.removed += 1 } }
    onEvent(.removal(path, result))
  }
}
