import BoundedQueue
import Files
import Foundation
import Locking
import MemoryPressure
import Synchronization
import SystemPackage
import Thumbnails
import TraceRecording

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
    /// Nil before the job runs.
    public let pressure: PressureSnapshot?
  }

  /// What memory pressure has cancelled and is to be done again.
  private struct Requeued {
    let source: Source
    let place: Path
    let timesCancelled: Int
    /// What was in place by then.
    let thumbnails: [MadeThumbnail]
  }

  private struct State {
    var tally = JobTally()
    var startedAt: ContinuousClock.Instant?
    var stopCause: StopCause?
    var total: Int?
    /// Never more than ran and waited at once.
    var requeued: [Requeued] = []
    var monitor: PressureMonitor?
    /// Nil before the job runs.
    var governor: PressureGovernor?
  }

  /// How often memory pressure may cancel the work on one source before it is left.
  private static let patience = 3

  public let queue: BoundedOperationQueue
  public let settings: JobSettings
  private let outputs: [ThumbnailOutput]
  private let walker: SourceWalker
  private let shared: ThumbnailOperation.Shared
  private let surroundings: Surroundings
  private let pressureRules: PressureRules
  /// Nil where nothing is recorded.
  public let trace: TraceRecorder?
  /// Whether somebody has asked for the sources to be counted.
  private let isCounted = Atomic(false)
  private let onEvent: @Sendable (JobEvent) -> Void
  /// What the job gives to its operations.
  public let memory: MemoryPlan
  /// Guards the counts, why the job stops, and what is to be done again.
  private let state = Locked(State())

  /// Makes the output folders.
  ///
  /// - Parameters:
  ///   - trace: where to record what happens; the job does not close it.
  ///   - onThumbnail: shown every thumbnail made.
  ///   - onEvent: told of every source and problem, from any thread, several at once. It may block: the queue then waits
  ///     for it.
  /// - Throws: `OutputError`.
  public convenience init(
    _ settings: JobSettings, trace: TraceRecorder? = nil, onThumbnail: ThumbnailHandler? = nil,
    onEvent: @escaping @Sendable (JobEvent) -> Void
  ) throws(OutputError) {
    try self.init(
      settings, surroundings: Surroundings(), pressureRules: PressureRules(), trace: trace, onThumbnail: onThumbnail,
      onEvent: onEvent)
  }

  /// Shown a thumbnail that has been put in place, on the thread that made it; its bytes are there for the call only.
  public typealias ThumbnailHandler = @Sendable (_ operation: Int, _ source: Path, _ thumbnail: Thumbnail) -> Void

  /// - Parameters:
  ///   - surroundings: where memory and its pressure are looked up.
  ///   - pressureRules: when memory counts as tight, and as normal again.
  package init(
    _ settings: JobSettings, surroundings: Surroundings, pressureRules: PressureRules, trace: TraceRecorder? = nil,
    onThumbnail: ThumbnailHandler? = nil, onEvent: @escaping @Sendable (JobEvent) -> Void
  ) throws(OutputError) {
    self.settings = settings
    self.surroundings = surroundings
    self.pressureRules = pressureRules
    self.trace = trace
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
    let limit = MemoryLimit.find(in: surroundings)
    memory = MemoryPlan(
      settings.memory, limit: limit, usage: UsageReader(limit: limit, surroundings: surroundings).read())
    queue = BoundedOperationQueue(
      name: "thumbnails", max: settings.maxInUse, backlog: settings.backlog, budget: memory.budget)
    shared = ThumbnailOperation.Shared(
      outputs: outputs, memory: memory, retries: settings.retries, trace: trace, onThumbnail: onThumbnail)
    if let trace {
      let operations = OperationTrace(trace)
      queue.observe { operations.record($0) }
    }
    queue.observe { [weak self] event in
      guard case .ended(let outcome) = event.change, let operation = event.operation as? ThumbnailOperation else {
        return
      }
      self?.trace.span("Job.settled") { self?.ended(operation, outcome) }
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
  ///
  /// - Throws: `PressureSignalError` where the pressure source asked for cannot be used; no source has been looked at then.
  public func run() throws(PressureSignalError) -> JobReport {
    let governor = governor()
    let monitor: PressureMonitor
    do {
      monitor = try PressureMonitor(
        signals: settings.pressureSource, rules: memory.rules(pressureRules), under: memory.limit, in: surroundings
      ) { governor.handle($0) }
    } catch {
      closeOutputs()
      throw error
    }
    let startedAt = ContinuousClock.now
    state.withLock { state in
      state.monitor = monitor
      state.governor = governor
      state.startedAt = startedAt
    }
    onEvent(.watching(monitor.reports))
    let watchdog = Watchdog(queue: queue, timeout: settings.timeout, total: settings.runFor) { self.stop(.timeIsUp) }
    let audit = ReservationAudit(queue, memory, in: surroundings)
    let tickers = [
      watchdog.start(),
      Ticker(name: "thumbjob.memory", every: Watchdog.tick) {
        self.trace.span("ReservationAudit.look") { audit.look() }
        self.trace.span("PressureGovernor.tick") { governor.tick() }
        self.traceCounters(monitor.snapshot)
      },
    ]
    let (walk, isWalkComplete) = walkSources()
    finish()
    for ticker in tickers { ticker.stop() }
    monitor.stop()
    governor.finish()
    closeOutputs()
    let (tally, stopCause) = state.withLock { ($0.tally, $0.stopCause) }
    return JobReport(
      tally: tally, walk: walk, counters: queue.counters, limits: queue.widestLimits, elapsed: .now - startedAt,
      peakMemory: JobReport.peakMemory(), memory: memory, worstMemoryRatio: audit.worstRatio,
      pressureSource: monitor.snapshot.signals, stopCause: stopCause, isWalkComplete: isWalkComplete)
  }

  private func governor() -> PressureGovernor {
    PressureGovernor(
      queue: queue, response: settings.onPressure, stop: { self.stop(.pressure) },
      giveBack: { [makers = shared.makers] in
        makers.trim()
        Allocator.giveBack()
      },
      onNote: { note in
        self.state.withLock { $0.tally.count(note) }
        self.onEvent(.pressure(note))
      })
  }

  private func traceCounters(_ pressure: PressureSnapshot) {
    guard let trace else { return }
    let counters = queue.counters
    trace.count("operations", [("running", counters.running), ("waiting", counters.waiting)])
    trace.count("memory in MiB", [("reserved", counters.reserved >> 20), ("held", pressure.usage.resident >> 20)])
    trace.count("pressure", [("level", pressure.level.rawValue)])
  }

  /// - Returns: what the walk met, and whether it came to its end.
  private func walkSources() -> (WalkCounters, isComplete: Bool) {
    let places = OutputPlan(walker: walker) { path in
      guard let file = try? SourceFile(path) else { return false }
      let source = Source(path: path, relativePath: path.lastName, argument: 0, origin: .folder)
      return (try? file.content(of: source)) == .image(.jpeg)
    }
    var isComplete = true
    let shouldStop = {
      // Asked before every entry, and several times a second while nothing comes from a list.
      self.resubmit()
      guard self.isStopping else { return false }
      isComplete = false  // asked where there is more, or may be
      return true
    }
    let walk = walker.walk(shouldStop: shouldStop, onProblem: noted) { source in
      if trace.span("Job.take", { take(source, places) }) { return .goOn }
      isComplete = false
      return .stop
    }
    if isComplete { state.withLock { $0.total = $0.tally.found } }
    return (walk, isComplete)
  }

  /// Waits for all that is under way, and for what memory pressure has cancelled to be done again.
  private func finish() {
    repeat {
      resubmit()
      queue.drain()
    } while state.withLock({ !$0.requeued.isEmpty })
    queue.close()
  }

  /// Brings one source under way, and waits for room in the backlog; false when the job is stopping.
  private func take(_ source: Source, _ places: OutputPlan) -> Bool {
    state.withLock { $0.tally.found += 1 }
    let place: Path
    switch trace.span("OutputPlan.placement", { places.placement(of: source) }) {
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
    switch trace.span("Job.standing", { standing(of: source, at: place) }) {
    case .upToDate where !settings.force:
      state.withLock { $0.tally.upToDate += 1 }
      return true
    case .isSource:
      fail(source, .collision, "its thumbnail would take its own place; choose another folder with --out")
      return true
    case .upToDate, .missing, .stale: break
    }
    return submit(ThumbnailOperation(source: source, place: place, shared: shared))
  }

  /// Waits for room in the backlog; false when the job is stopping.
  private func submit(_ operation: ThumbnailOperation) -> Bool {
    while true {
      do {
        try trace.span("BoundedOperationQueue.submit") { () throws(SubmitError) in try queue.submit(operation) }
        return true
      } catch {
        // Memory pressure empties the backlog; it does not close the queue.
        if error == .cancelled(.pressure), !isStopping { continue }
        report(SourceReport(source: operation.source, result: .cancelled(stopReason)))
        return false
      }
    }
  }

  /// Brings under way again what memory pressure has cancelled.
  private func resubmit() {
    let requeued = state.withLock { state in
      defer { state.requeued = [] }
      return state.requeued
    }
    for one in requeued {
      _ = submit(
        ThumbnailOperation(
          source: one.source, place: one.place, timesCancelled: one.timesCancelled, thumbnails: one.thumbnails,
          shared: shared))
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
      elapsed: copy.startedAt.map { .now - $0 } ?? .zero, total: copy.total, stopCause: copy.stopCause,
      pressure: copy.monitor?.snapshot)
  }

  /// Counts the sources on a thread of its own, ahead of the work, so that what remains can be told. Where they can be
  /// walked only once the total is not known before the walk is over.
  ///
  /// *Concurrency*: any number of times; it counts once.
  public func countAhead() {
    guard !isCounted.exchange(true, ordering: .relaxed) else { return }
    Thread.detachNewThread { [self] in
      guard walker.canBeWalkedTwice else { return }
      let counters = walker.walk(shouldStop: { isStopping }, onProblem: { _ in }, visit: { _ in .goOn })
      if !isStopping { state.withLock { $0.total = counters.files } }
    }
  }

  // MARK: Steering

  /// Starts nothing new until ``resume()``; what runs goes on.
  public func pause() { queue.pause(.user) }

  /// Goes on after ``pause()``, unless memory is short.
  public func resume() { queue.resume(.user) }

  /// Changes the bounds that are given, while the job runs.
  ///
  /// - Parameter budget: bytes that running operations may reserve together; one alone may have as many more as before.
  /// - Returns: the bounds as they are then.
  public func changeLimits(max: Int?, backlog: Int?, budget: Int?) -> QueueLimits {
    // First, so that a width it grows back to meanwhile is not the old one.
    if let max { state.withLock { $0.governor }?.setFullMax(max) }
    queue.changeLimits { limits in
      if let max { limits.max = max }
      if let backlog { limits.backlog = backlog }
      if let budget { limits.budget = MemoryBudget(bytes: budget, largest: Swift.max(budget, memory.budget.largest)) }
    }
    return queue.limits
  }

  // MARK: Stopping

  /// Ends the job: nothing more is started; what runs is cancelled too, or may finish, as the cause says. The first
  /// cause stands, unless a later one ends more.
  ///
  /// - Returns: what was cancelled.
  @discardableResult
  public func stop(_ cause: StopCause) -> CancelledOperations {
    let isNews = state.withLock { state in
      if let first = state.stopCause, !cause.overrides(first) { return false }
      state.stopCause = cause
      return true
    }
    let cancelled = queue.stop(reason: cause.reason, sparingRunning: cause.sparesRunning)
    if isNews { onEvent(.stopping(cause)) }
    return cancelled
  }

  /// Removes what this run has not finished writing, taking no lock: for the thread that ends the process at once.
  public func closeOutputs() {
    for output in outputs { output.folder?.close() }
  }

  /// Whether the job ends before its sources do.
  public var isStopping: Bool { state.withLock { $0.stopCause != nil } }

  private var stopReason: CancelReason { state.withLock { $0.stopCause }?.reason ?? .shutdown }

  // MARK: Reporting

  private func ended(_ operation: ThumbnailOperation, _ outcome: Outcome) {
    if outcome.cancelReason == .pressure, requeue(operation) { return }
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

  /// False when the source is to be left.
  private func requeue(_ operation: ThumbnailOperation) -> Bool {
    // Only what held memory may have been too much for what there was.
    let found = operation.found
    let times = operation.timesCancelled + (found.hasHeldMemory ? 1 : 0)
    return state.withLock { state in
      guard state.stopCause == nil, settings.onPressure == .requeue, times < Self.patience else { return false }
      state.requeued.append(
        Requeued(
          source: operation.source, place: operation.place, timesCancelled: times, thumbnails: found.thumbnails))
      state.tally.requeued += 1
      return true
    }
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
    if case .failed = report.result, settings.halt?.isReached(by: tally) == true { stop(.tooManyFailures) }
  }

  private func noted(_ problem: WalkProblem) {
    state.withLock { $0.tally.count(problem) }
    onEvent(.problem(problem))
  }
}
