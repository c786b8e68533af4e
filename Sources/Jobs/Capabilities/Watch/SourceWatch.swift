import Files
import FolderWatching
import Foundation
import JobSettings
import Locking
import Marks
import Places
import Sourcing

/// What a job knows about the folders that it watches: where something has changed, what is polled, and what is gone.
///
/// *Concurrency*: the job's thread asks what to do next; changes, and the ends of operations, come from other threads.
final class SourceWatch: Sendable {
  private struct State {
    var roots: [WatchedRoot]
    var pending = PendingChanges()
    var passedOver = PassedOverFiles()
    var mounts = MountPoints()
    /// The sources whose operations are on the queue, at most as many as run and wait.
    var underWay: Set<Path> = []
    /// Hashes of the errors of walks that were reported, so that each walk does not report them again.
    var reported = CompactTable(limit: mostReported)
    /// Hashes of the sources whose place another one gets, of which each was told.
    var losers = CompactTable(limit: mostReported)
    /// The last reason for which nothing was swept.
    var refusal: PruneRefusal?
    var counters = WatchCounters()
    /// Nil if nothing can be watched.
    var watcher: FolderWatcher?
    var isWoken = false
    /// Whether the job is stopping, and nothing is waited for any more.
    var isEnding = false
    /// When the job's thread last gave a sign of life.
    var lastSign = ContinuousClock.now
  }

  let settings: WatchSettings
  /// The time between two walks over a polled folder.
  var pollPause: Duration { settings.poll ?? WatchSettings.usualPoll }
  private let links: LinkedSources
  private let state: Locked<State>
  private let wakeUp = TimedSignal()
  /// A walk is followed by a pause of at least this many times its own length.
  private static let leastPause = 9
  /// The most errors to remember, and the most sources without a place.
  private static let mostReported = (1 << 17) / 8 * 7
  /// A file that a walk finds must have this age, because it may still be written. In a watched folder, its closing is
  /// reported meanwhile.
  private static let (watchedAge, polledAge) = (Duration.seconds(1), Duration.seconds(2))

  init(_ settings: WatchSettings, _ walker: SourceWalker) {
    self.settings = settings
    links = LinkedSources(every: settings.linkPause)
    var roots: [WatchedRoot] = []
    for (index, argument) in walker.arguments.enumerated() {
      guard case .path(let path) = argument else { continue }
      roots.append(WatchedRoot(argument: index, path: path, mirrored: walker.tree.relativePath(ofArgument: path)))
    }
    state = Locked(State(roots: roots))
  }

  // MARK: Beginning and end

  /// Opens the kernel's watch; without it, everything is polled.
  func begin() {
    var reason: WatchNote.PollReason? = settings.poll != nil ? .wanted : nil
    var watcher: FolderWatcher?
    if reason == nil {
      do throws(Errno) {
        watcher = try FolderWatcher()
        if watcher?.start({ [weak self] in self?.note($0) }) == false { (watcher, reason) = (nil, .failed(.noMemory)) }
      } catch {
        reason = .failed(error)
      }
    }
    state.withLock { state in
      state.watcher = watcher
      guard let reason else { return }
      for index in state.roots.indices { state.roots[index].pollReason = reason }
    }
  }

  func end() { takeWatcher()?.stop() }

  /// Watches with a new descriptor. Changes were lost, so folders may have other paths than those by which they are known.
  func restart() {
    guard let old = takeWatcher() else { return }
    old.stop()
    begin()
  }

  private func takeWatcher() -> FolderWatcher? {
    state.withLock { state in
      defer { state.watcher = nil }
      return state.watcher
    }
  }

  // MARK: Changes

  private func note(_ changes: [FolderChange]) {
    let now = ContinuousClock.now
    state.withLock { state in
      state.counters.changes += changes.count
      state.counters.lastChange = Date()
      for change in changes {
        switch change {
        case .file(let path):
          // Whatever has changed, it may be whole now.
          state.passedOver.remove(path)
          state.pending.note(path, at: now)
        case .gone(let path, _): state.pending.note(path, at: now)
        // At once: of files that are closed before the folder is watched, it is not known whether they are.
        case .folder(let path): state.pending.note(path, at: now, quiet: .zero)
        case .unmounted: break  // the job looks at its mount points anyway
        case .overflow: state.pending.loseAll()
        }
      }
    }
    wake()
  }

  /// Looks at a path again, after a while.
  func lookAgain(at path: Path, quiet: Duration = PendingChanges.quietTime) {
    state.withLock { $0.pending.note(path, at: .now, quiet: quiet) }
    wake()
  }

  /// Lets the job's thread see that the job is stopping.
  func endWaiting() {
    state.withLock { $0.isEnding = true }
    wake()
  }

  /// Lets the job's thread look what there is to do.
  func wake() {
    let isFirst = state.withLock { state in
      defer { state.isWoken = true }
      return !state.isWoken
    }
    if isFirst { wakeUp.signal() }
  }

  /// Waits until a path is due, until ``wake()``, or for the given time; not at all after ``endWaiting()``.
  func wait(upTo limit: Duration) {
    let limit = state.withLock { state in
      state.isWoken = false
      state.lastSign = .now
      if state.pending.needsWalk || state.isEnding { return Duration.zero }
      return state.pending.nextDue.map { min(limit, $0 - .now) } ?? limit
    }
    if limit > .zero { _ = wakeUp.wait(upTo: limit) }
  }

  /// When the job's thread last gave a sign of life: it waited for changes, or came further in a walk.
  var lastSign: ContinuousClock.Instant { state.withLock { $0.lastSign } }

  func giveSign() { state.withLock { $0.lastSign = .now } }

  /// Everything must be walked.
  func needWalk() { state.withLock { $0.pending.loseAll() } }

  func takeWalk() -> Bool { state.withLock { $0.pending.takeWalk() } }

  func takeDue() -> [Path] { state.withLock { $0.pending.takeDue(at: .now) } }

  /// Whether no change waits.
  var isIdle: Bool { state.withLock { $0.pending.count == 0 && !$0.pending.needsWalk } }

  // MARK: Sources

  /// Whether the source has an operation on the queue.
  func isUnderWay(_ source: Path) -> Bool { state.withLock { $0.underWay.contains(source) } }

  /// Call it before the operation of a source is submitted.
  func began(_ source: Path) { state.withLock { _ = $0.underWay.insert(source) } }

  /// Call it when the operation of a source has ended.
  ///
  /// - Returns: whether the source is still there.
  func ended(_ source: Path) -> Bool {
    state.withLock { _ = $0.underWay.remove(source) }
    let isThere = FileStatus.exists(source)
    // Its thumbnails may have been put in place after those of everything around it were removed.
    if !isThere { lookAgain(at: source) }
    return isThere
  }

  /// Passes over a source from now on until it changes, if it is fruitless.
  ///
  /// - Parameter read: the version that was read; nil if it was not opened.
  func note(_ source: Path, isFruitless: Bool, read: SourceFile.Version?) {
    guard isFruitless else { return state.withLock { $0.passedOver.remove(source) } }
    let version = PassedOverFiles.Version(of: source, read: read)
    state.withLock { $0.passedOver.insert(source, version) }
  }

  func passesOver(_ source: Path) -> Bool {
    guard let known = state.withLock({ $0.passedOver[source] }) else { return false }
    return known.isCurrent(of: source)
  }

  /// Call it for each source that a walk or a change has led to. If its file has several names, it is looked at again and
  /// again from now on.
  ///
  /// - Returns: what is to be said about that.
  func found(_ source: Path, _ status: stat) -> WatchNote? {
    guard status.st_nlink > 1, let root = root(of: source), root.pollReason == nil else { return nil }
    switch links.insert(source, FileState(status)) {
    case .first: return .linked(source, every: settings.linkPause)
    case .none: break
    case .tooMany: change(root.argument) { $0.pollReason = .linked(LinkedSources.limit) }
    }
    return nil
  }

  /// Notes the changes of files with several names that nothing has reported. Nothing tells either when these are closed.
  func lookAtLinks() { for source in links.takeChanged() { lookAgain(at: source, quiet: Self.polledAge) } }

  /// Notes that another source gets the place of this one.
  ///
  /// - Returns: false if that was noted before.
  @discardableResult
  func loses(_ source: Path) -> Bool { state.withLock { $0.losers.insert(source.compactHash, 0) } }

  /// Whether another source had the place of this one when that was last looked at.
  func hasLost(_ source: Path) -> Bool { state.withLock { $0.losers[source.compactHash] != nil } }

  /// Notes that a source gets its place.
  func wins(_ source: Path) { state.withLock { $0.losers.remove(source.compactHash) } }

  /// - Returns: false if the same error was reported before.
  func reports(_ error: WalkError) -> Bool {
    let hash = error.description.compactHash
    return state.withLock { $0.reported.insert(hash, 0) }
  }

  /// - Returns: false if the last refusal was the same.
  func says(_ refusal: PruneRefusal) -> Bool {
    state.withLock { state in
      defer { state.refusal = refusal }
      return state.refusal != refusal
    }
  }

  // MARK: Folders

  var roots: [WatchedRoot] { state.withLock { $0.roots } }

  /// The watched folder that a path is in; the first of several.
  func root(of path: Path) -> WatchedRoot? { roots.first { path.below($0.path) != nil } }

  /// Watches a folder that a walk has opened and not yet read.
  func entered(_ folder: OpenFolder, argument: Int) {
    guard let root = roots.first(where: { $0.argument == argument }) else { return }
    let isRoot = folder.path == root.path
    if isRoot {
      change(argument) { $0.identity = folder.identity }
    } else if folder.identity.device != root.identity?.device, MountPoints.isMountPoint(folder.path) {
      state.withLock { $0.mounts.insert(folder.path) }
    }
    if root.pollReason != nil { return }
    if isRoot || folder.identity.device != root.identity?.device,
      let name = RemoteFileSystem.name(at: folder.path)
    {
      return change(argument) { $0.pollReason = .remote(name) }
    }
    do throws(Errno) { try state.withLock({ $0.watcher })?.watch(folder.path) } catch {
      switch error {
      case .noSuchFileOrDirectory, .notDirectory: break  // it is gone again, which its parent reports
      case .noSpace: pollAll(.limit(folders: 0))
      default: change(argument) { $0.pollReason = .failed(error) }
      }
    }
  }

  /// The kernel watches no further folder. It is asked for nothing more, so that other programs get the watches.
  private func pollAll(_ reason: WatchNote.PollReason) {
    takeWatcher()?.stop()
    state.withLock { state in
      for index in state.roots.indices where state.roots[index].pollReason == nil {
        state.roots[index].pollReason = reason
      }
    }
  }

  private func change(_ argument: Int, _ body: (inout WatchedRoot) -> Void) {
    state.withLock { state in
      if let index = state.roots.firstIndex(where: { $0.argument == argument }) { body(&state.roots[index]) }
    }
  }

  /// Call it after each walk over a source folder.
  ///
  /// - Parameters:
  ///   - folders: how many folders it has.
  ///   - time: how long the walk has taken. If that is long, so is the pause, unless the user has chosen one.
  /// - Returns: that it is polled, if that was not said yet.
  func walked(_ root: WatchedRoot, folders: Int, took time: Duration) -> WatchNote? {
    let pause = settings.poll ?? max(pollPause, time * Self.leastPause)
    return state.withLock { state in
      guard let index = state.roots.firstIndex(where: { $0.argument == root.argument }) else { return nil }
      state.roots[index].nextPoll = .now + pause
      guard var reason = state.roots[index].pollReason, !state.roots[index].isPollingSaid else { return nil }
      state.roots[index].isPollingSaid = true
      if case .limit = reason { reason = .limit(folders: folders) }
      return .polling(root.path, reason, every: pollPause)
    }
  }

  /// How much longer a file that a walk has found must be left alone; nil if it is old enough.
  func rest(of path: Path, in root: WatchedRoot) -> Duration? {
    guard case .success(let status) = FileStatus.of(path, followingLinks: true) else { return nil }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age = Duration(to: now) - Duration(to: status.modified)
    let needed = root.pollReason == nil ? Self.watchedAge : Self.polledAge
    return age >= .zero && age < needed ? needed - age : nil
  }

  func countWalk() { state.withLock { $0.counters.walks += 1 } }

  /// The polled folders whose time has come.
  var duePolls: [WatchedRoot] {
    let now = ContinuousClock.now
    return roots.filter { $0.pollReason != nil && !$0.isGone && $0.nextPoll <= now }
  }

  /// Looks whether source folders are gone or there again.
  ///
  /// - Returns: the folders for which that has changed; `isSame` tells whether the folder that is back is the one that went.
  func checkRoots() -> [(root: WatchedRoot, isBack: Bool, isSame: Bool)] {
    var found: [(root: WatchedRoot, isBack: Bool, isSame: Bool)] = []
    for root in roots {
      let present = root.present
      let isSame = present == root.identity
      if root.isGone, present != nil { found.append((root, true, isSame)) }
      // Another folder with the same path: what was below the first one is gone, and its thumbnails stay.
      if !root.isGone, !isSame {
        found.append((root, false, false))
        if present != nil { found.append((root, true, false)) }
      }
    }
    for (root, isBack, _) in found {
      change(root.argument) { $0.isGone = !isBack }
      if !isBack { state.withLock { $0.watcher }?.forget(below: root.path) }
    }
    return found
  }

  /// The mount points below the source folders whose disks are not mounted now.
  var unmounted: Set<Path> { state.withLock { $0.mounts }.unmounted }

  /// Whether the photos at a path may still exist although they cannot be seen: their disk is not mounted, or the source
  /// folder is gone as a whole.
  func isOutOfSight(_ path: Path) -> Bool {
    guard let root = root(of: path), root.present == root.identity else { return true }
    return state.withLock { $0.mounts }.isUnmounted(path)
  }

  var counters: WatchCounters {
    state.withLock { state in
      var counters = state.counters
      counters.folders = state.watcher?.count ?? 0
      counters.polledFolders = state.roots.count { $0.pollReason != nil }
      counters.waiting = state.pending.count
      return counters
    }
  }
}
