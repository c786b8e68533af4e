import BoundedQueue
import Foundation
import Locking
import SystemPackage
import Thumbnails

/// One run: sources, outputs and limits, put together and carried through.
///
/// The walk is the producer of a bounded queue: it blocks while the backlog is full, so a million sources cost no more
/// than a thousand. ``stop(_:)`` ends it at any moment; ``run()`` then returns with everything counted.
///
/// *Concurrency*: ``run()`` once, on a thread that may block; everything else from any thread at any time.
public final class Job: Sendable {
  /// How a job stands.
  public struct Status: Sendable {
    public let tally: JobTally
    public let queue: QueueSnapshot
    public let elapsed: Duration
    /// How many sources there are in all, once that is known.
    public let total: Int?
    public let stopCause: StopCause?
  }

  private struct State {
    var tally = JobTally()
    var startedAt: ContinuousClock.Instant?
    var stopCause: StopCause?
    var total: Int?
  }

  public let queue: BoundedOperationQueue
  private let settings: JobSettings
  private let outputs: [ThumbnailOutput]
  private let walker: SourceWalker
  private let shared: ThumbnailOperation.Shared
  private let onEvent: @Sendable (JobEvent) -> Void
  /// Guards the counts and why the job stops.
  private let state = Locked(State())

  /// Makes the output folders.
  ///
  /// - Parameter onEvent: told of every source and problem, from any thread, several at once. It may block: the queue
  ///   then waits for it.
  /// - Throws: `OutputError`.
  public init(_ settings: JobSettings, onEvent: @escaping @Sendable (JobEvent) -> Void) throws(OutputError) {
    self.settings = settings
    self.onEvent = onEvent
    var outputs: [ThumbnailOutput] = []
    for output in settings.outputs {
      let options = output.thumbnailOptions(failOn: settings.failOn, limitPixels: settings.limitPixels)
      outputs.append(try ThumbnailOutput(path: output.folder, options: options, isDryRun: settings.dryRun))
    }
    try Self.checkShared(outputs)
    self.outputs = outputs
    walker = SourceWalker(
      arguments: settings.sources, filter: settings.filter, followsLinks: settings.followsLinks,
      outputs: outputs.map(\.path))
    queue = BoundedOperationQueue(
      name: "thumbnails", max: settings.maxInUse, backlog: settings.backlog)
    shared = ThumbnailOperation.Shared(outputs: outputs, retries: settings.retries)
    queue.observe { [weak self] event in
      guard case .settled(let outcome) = event.change, let operation = event.operation as? ThumbnailOperation else {
        return
      }
      self?.settled(operation, outcome)
    }
  }

  /// No two outputs may write to one folder, by whatever names they call it: each would overwrite the other's.
  private static func checkShared(_ outputs: [ThumbnailOutput]) throws(OutputError) {
    var folders: Set<FileIdentity> = []
    for folder in outputs.flatMap(\.folders) {
      if let identity = FileIdentity(of: folder), !folders.insert(identity).inserted {
        throw OutputError(.shared, folder)
      }
    }
  }

  // MARK: Running

  /// Walks the sources and makes the thumbnails; returns when all that was begun has ended.
  public func run() -> JobReport {
    let startedAt = ContinuousClock.now
    state.withLock { $0.startedAt = startedAt }
    let watchdog = Watchdog(queue: queue, timeout: settings.timeout, total: settings.runFor) { self.stop(.timeIsUp) }
    let watching = watchdog.start()
    let places = OutputPlan(walker: walker) { path in
      guard let file = try? SourceFile(path) else { return false }
      let source = Source(path: path, relativePath: path.lastName, argument: 0, origin: .folder)
      return (try? file.content(of: source)) == .image(.jpeg)
    }
    var isWalkComplete = true
    let shouldStop = {
      guard self.isStopping else { return false }
      isWalkComplete = false  // asked where there is more, or may be
      return true
    }
    let walk = walker.walk(shouldStop: shouldStop, onProblem: noted) { source in
      if take(source, places) { return .goOn }
      isWalkComplete = false
      return .stop
    }
    if isWalkComplete { state.withLock { $0.total = $0.tally.found } }
    queue.close()
    queue.drain()
    watching.stop()
    closeOutputs()
    let (tally, stopCause) = state.withLock { ($0.tally, $0.stopCause) }
    return JobReport(
      tally: tally, walk: walk, counters: queue.counters, limits: queue.limits, elapsed: .now - startedAt,
      peakMemory: JobReport.peakMemory(), stopCause: stopCause, isWalkComplete: isWalkComplete)
  }

  /// Brings one source under way, and waits for room in the backlog; false when the job is stopping.
  private func take(_ source: Source, _ places: OutputPlan) -> Bool {
    state.withLock { $0.tally.found += 1 }
    let place: Path
    switch places.placement(of: source) {
    case .place(let found): place = found
    case .taken(let rival):
      fail(source, .collision, "its thumbnail would take the place of that of \(rival.printable); rename one of them")
      return true
    case .duplicate(let rival):
      report(SourceReport(source: source, result: .duplicate(of: rival)))
      return true
    case .reserved:
      fail(source, .collision, "its thumbnail would go into the folder .thumbjob, which is the output's own")
      return true
    }
    switch standing(of: source, at: place) {
    case .upToDate where !settings.force:
      state.withLock { $0.tally.upToDate += 1 }
      return true
    case .isSource:
      fail(source, .collision, "its thumbnail would take its own place; choose another folder with --out")
      return true
    case .upToDate, .missing, .stale: break
    }
    do {
      try queue.submit(ThumbnailOperation(source: source, place: place, shared: shared))
      return true
    } catch {
      report(SourceReport(source: source, result: .cancelled(stopReason)))
      return false
    }
  }

  /// How the thumbnails of a source stand; missing also when the source cannot be looked at, which its operation will
  /// say better.
  private func standing(of source: Source, at place: Path) -> SettingsStamp.State {
    guard case .success(let status) = FileStatus.of(source.path, followingLinks: true) else { return .missing }
    var isUpToDate = true
    for output in outputs {
      switch output.state(of: place, source: status) {
      case .isSource: return .isSource
      case .upToDate: break
      case .missing, .stale: isUpToDate = false
      }
    }
    return isUpToDate ? .upToDate : .stale
  }

  // MARK: Looking

  /// - Parameter waitingLimit: list at most this many of the operations that wait.
  public func status(waitingLimit: Int) -> Status {
    let copy = state.withLock { $0 }
    return Status(
      tally: copy.tally, queue: queue.snapshot(waitingLimit: waitingLimit),
      elapsed: copy.startedAt.map { .now - $0 } ?? .zero, total: copy.total, stopCause: copy.stopCause)
  }

  /// Counts the sources on a thread of its own, ahead of the work, so that what remains can be told. Where they can be
  /// walked only once the total is not known before the walk is over.
  public func countAhead() {
    guard walker.canBeWalkedTwice else { return }
    Thread.detachNewThread { [self] in
      let counters = walker.walk(shouldStop: { isStopping }, onProblem: { _ in }, visit: { _ in .goOn })
      if !isStopping { state.withLock { $0.total = counters.files } }
    }
  }

  // MARK: Stopping

  /// Ends the job: nothing more is started; what runs is cancelled too, or may finish, as the cause says. The first
  /// cause stands, unless a later one ends more.
  ///
  /// - Returns: what was cancelled.
  @discardableResult
  public func stop(_ cause: StopCause) -> CancelledOperations {
    state.withLock { state in
      guard let first = state.stopCause else {
        state.stopCause = cause
        return
      }
      if cause.overrides(first) { state.stopCause = cause }
    }
    return queue.stop(reason: cause.reason, sparingRunning: cause.sparesRunning)
  }

  /// Removes what this run has not finished writing, taking no lock: for the thread that ends the process at once.
  public func closeOutputs() {
    for output in outputs { output.folder?.close() }
  }

  private var isStopping: Bool { state.withLock { $0.stopCause != nil } }

  private var stopReason: CancelReason { state.withLock { $0.stopCause }?.reason ?? .shutdown }

  // MARK: Reporting

  private func settled(_ operation: ThumbnailOperation, _ outcome: Outcome) {
    let found = operation.found
    let result: SourceResult =
      switch outcome {
      case .succeeded: found.result ?? .passedOver
      case .failed(let error as SourceFailure): .failed(error)
      case .failed(let error): .failed(SourceFailure(kind: .source, description: "\(error)"))
      case .cancelledWhileRunning(.timeout), .cancelledWhileWaiting(.timeout):
        .failed(
          SourceFailure(
            kind: .timeout, description: "took longer than \(settings.timeout); --timeout allows more"))
      case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason): .cancelled(reason)
      }
    report(
      SourceReport(
        source: operation.source, result: result, thumbnails: found.thumbnails, warnings: found.warnings,
        bytes: found.bytes, operation: operation.snapshot()))
  }

  private func fail(_ source: Source, _ kind: SourceFailure.Kind, _ text: String) {
    let failure = SourceFailure(kind: kind, description: text)
    report(SourceReport(source: source, result: .failed(failure)))
  }

  private func report(_ report: SourceReport) {
    let tally = state.withLock { state in
      state.tally.count(report)
      return state.tally
    }
    onEvent(.source(report))
    if case .failed = report.result, settings.halt?.isReached(tally) == true { stop(.tooManyFailures) }
  }

  private func noted(_ problem: WalkProblem) {
    state.withLock { $0.tally.count(problem) }
    onEvent(.problem(problem))
  }
}

extension HaltLimit {
  /// A share is looked at once ten sources have ended: one failure first would be all of them.
  fileprivate func isReached(_ tally: JobTally) -> Bool {
    switch self {
    case .failures(let count): tally.failed >= count
    case .percent(let percent):
      tally.settled >= 10 && Double(tally.failed) * 100 >= percent * Double(tally.settled)
    }
  }
}
