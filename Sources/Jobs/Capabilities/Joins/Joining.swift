import BoundedQueue
import JobSettings
import Locking
import Places
import Sourcing

/// Makes a manifest, a contact sheet and a gallery of all thumbnails of a job.
///
/// ``Joins`` collects what they need while the job runs. A ``SourceEntry`` tells of one source: its operation has found
/// it, or a ``DescribingOperation`` if its thumbnails are up to date, from the `DescriptionComment` that they have
/// after their mark. An ``EntryList`` for each of manifest, contact sheet and gallery keeps what it needs of the
/// entries in files without a name (``OrderedSpool``). A ``JoinOperation`` for each writes it once all sources are
/// done. A ``JoinFile`` appears whole or not at all. It replaces only what thumbjob has made, and only if it differs.
///
/// *Concurrency*: from any thread.
final class Joining: JobCapability {
  private let settings: JoinSettings
  private let joins: Joins
  private let shared: ThumbnailOperation.Shared
  /// Nil if nothing remembers the digests of sources.
  private let memory: (any SourceMemory)?
  private let onJoin: @Sendable (JoinReport) -> Void
  private let made = Locked<[JoinReport]>([])
  /// Whether sources come and go, as in a watch.
  private let isFollowed: Bool
  /// In a watch, when something changed that is not yet in the lists; nil if all is.
  private let changed = Locked<ContinuousClock.Instant?>(.now)

  /// In a watch, how long nothing changes before the lists are written again: a copy of a thousand photos is one change.
  private static let quiet = Duration.seconds(3)

  convenience init?(_ parts: JobParts) throws(OutputError) {
    let settings = parts.settings.joins
    if settings.isEmpty || parts.isRead { return nil }
    let joins = try Joins(
      settings, outputs: parts.outputs, tree: parts.walker.tree.root, isDurable: parts.settings.durable,
      isFollowed: parts.settings.watch != nil)
    self.init(settings, joins, parts.shared, parts.sourceMemory, isFollowed: parts.settings.watch != nil) {
      [onEvent = parts.onEvent] in onEvent(.join($0))
    }
  }

  /// - Parameter onJoin: receives what became of each.
  init(
    _ settings: JoinSettings, _ joins: Joins, _ shared: ThumbnailOperation.Shared, _ memory: (any SourceMemory)?,
    isFollowed: Bool,
    onJoin: @escaping @Sendable (JoinReport) -> Void
  ) {
    (self.settings, self.joins, self.shared, self.memory, self.onJoin) = (settings, joins, shared, memory, onJoin)
    self.isFollowed = isFollowed
  }

  func tell(_ report: inout JobReport) { report.joins = made.withLock { $0 } }

  var describesSources: Bool { true }

  func admit(_ candidate: inout Candidate, in engine: Engine) {
    guard case .upToDate = candidate.verdict else { return }
    candidate.verdict = .start(SourceTask(source: candidate.source, place: candidate.place, work: .describe))
  }

  func operation(for task: SourceTask) -> SourceOperation? {
    guard task.work == .describe else { return nil }
    return DescribingOperation(task, shared: shared, memory: memory) { [joins, self] entry in
      joins.store(entry)
      noteChange()
    }
  }

  func ended(_ end: SourceEnd) {
    // What had no operation has an entry only if there can be none.
    if end.operation == nil { guard case .failed = end.result else { return } }
    joins.store(end.report, end.findings, place: end.place)
    noteChange()
  }

  func vanished(_ source: Source, andBelow below: Bool) {
    joins.remove(source, andBelow: below)
    noteChange()
  }

  private func noteChange() { if isFollowed { changed.withLock { $0 = .now } } }

  /// Writes the lists of a watch again, whole, once nothing has changed for a while. What is equal stays untouched.
  func rested(_ engine: Engine) {
    let isDue = changed.withLock { changed in
      guard let moment = changed, .now - moment >= Self.quiet else { return false }
      changed = nil
      return true
    }
    if isDue { makeAll(engine) }
  }

  /// Makes everything, now that the thumbnails are done. If the job was stopped, or a folder of photos could not be read, as
  /// where a disk is not mounted, nothing is made, and what an earlier run made stays.
  func complete(_ engine: Engine) {
    // The next watch makes what is missing.
    if !isFollowed { makeAll(engine) }
  }

  private func makeAll(_ engine: Engine) {
    for (kind, path) in settings.paths {
      let report = make(kind, JoinReport(kind: kind, path: path, result: .notMade(engine.stopReason), count: 0), engine)
      // A watch tells of each only what is new.
      let isNews = made.withLock { made in
        guard let index = made.firstIndex(where: { $0.kind == kind }) else {
          made.append(report)
          return true
        }
        defer { made[index] = report }
        if case .made = report.result { return true }
        return "\(made[index].result)" != "\(report.result)"
      }
      if isNews { onJoin(report) }
    }
  }

  /// - Parameter unmade: the report if it is not made because the job is stopping.
  private func make(_ kind: JoinKind, _ unmade: JoinReport, _ engine: Engine) -> JoinReport {
    if engine.state.withLock({ $0.tally.missingArguments + $0.tally.unreadable > 0 }) {
      return JoinReport(kind: kind, path: unmade.path, result: .withheld, count: 0)
    }
    var report = unmade
    while !engine.isStopping {
      let operation = joins.operation(kind, memory: shared.memory)
      guard engine.submit(operation) else { break }
      engine.queue.drainBlocking()
      report = operation.report
      // Memory pressure cancels these operations too. They begin again.
      if operation.outcome?.cancelReason != .pressure { break }
    }
    return report
  }
}
