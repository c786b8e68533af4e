import BoundedQueue
import Files
import Foundation
import Locking
import MemoryPressure
import Synchronization
import Thumbnails
import TraceRecording

/// A job walks its sources and makes their thumbnails on a bounded queue.
///
/// The walk submits one operation for each source and blocks while the backlog is full, so a million sources need no
/// more memory than a thousand. ``stop(_:)`` ends the job at any moment; ``run()`` then returns the report.
///
/// The code is in four files: running and finishing (this one), intake (`Job+Intake`), steering (`Job+Steering`), and
/// the results of ended operations (`Job+EndedOperations`).
///
/// *Concurrency*: call ``run()`` once, on a thread that may block. Everything else may be called from any thread at any
/// time.
public final class Job: Sendable {
  /// A source whose operation memory pressure has cancelled. It needs a new operation.
  struct Requeued {
    let source: Source
    let place: Path
    let timesCancelled: Int
    /// Thumbnails that the cancelled operation had put in place.
    let thumbnails: [MadeThumbnail]
  }

  struct State {
    var tally = JobTally()
    var startedAt: ContinuousClock.Instant?
    var stopCause: StopCause?
    /// The number of all sources; nil until it is known.
    var total: Int?
    /// At most as many sources as operations ran and waited at one time.
    var requeued: [Requeued] = []
    /// Nil before the job runs.
    var monitor: PressureMonitor?
    /// Nil before the job runs.
    var governor: PressureGovernor?
  }

  public let queue: BoundedOperationQueue
  public let settings: JobSettings
  /// The memory that the operations may hold together.
  public let memory: MemoryPlan
  /// Nil if the job records no trace.
  public let trace: TraceRecorder?
  let outputs: [ThumbnailOutput]
  let walker: SourceWalker
  let shared: ThumbnailOperation.Shared
  let onEvent: @Sendable (JobEvent) -> Void
  /// Guards everything that changes while the job runs.
  let state = Locked(State())
  /// Whether ``countAhead()`` was called.
  let isCounted = Atomic(false)
  private let surroundings: Surroundings
  private let pressureRules: PressureRules

  /// Makes the output folders, except in a dry run.
  ///
  /// - Parameters:
  ///   - trace: records the job. The caller closes it.
  ///   - onThumbnail: receives every thumbnail.
  ///   - onEvent: receives events on any thread, several at once. An operation keeps its place in the queue until its
  ///     event is handled, so a slow receiver slows the job.
  /// - Throws: ``OutputError``.
  public convenience init(
    _ settings: JobSettings, trace: TraceRecorder? = nil, onThumbnail: ThumbnailHandler? = nil,
    onEvent: @escaping @Sendable (JobEvent) -> Void
  ) throws(OutputError) {
    try self.init(
      settings, surroundings: Surroundings(), pressureRules: PressureRules(), trace: trace, onThumbnail: onThumbnail,
      onEvent: onEvent)
  }

  /// - Parameters:
  ///   - surroundings: where to read the memory limit, its use and its pressure.
  ///   - pressureRules: the thresholds of pressure levels.
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
    try Self.checkFoldersDiffer(outputs)
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
      self?.trace.span("Job.ended") { self?.ended(operation, outcome) }
    }
  }

  /// Two outputs with the same folder, even under different paths, would overwrite each other's thumbnails.
  private static func checkFoldersDiffer(_ outputs: [ThumbnailOutput]) throws(OutputError) {
    var folders: Set<FileIdentity> = []
    for folder in outputs.flatMap(\.folders) {
      if let identity = FileIdentity(of: folder), !folders.insert(identity).inserted {
        throw OutputError(.shared, folder)
      }
    }
  }

  /// Walks the sources and makes their thumbnails. Returns when every operation has ended.
  ///
  /// - Throws: ``PressureSignalError`` if the requested pressure signals cannot be used. The job has then read no
  ///   source.
  public func run() throws(PressureSignalError) -> JobReport {
    let governor = makeGovernor()
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
      Ticker(name: "thumbjob.memory", every: PressurePolicy.tick) {
        self.trace.span("ReservationAudit.measure") { audit.measure() }
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

  private func makeGovernor() -> PressureGovernor {
    PressureGovernor(
      queue: queue, response: settings.onPressure, stop: { self.stop(.pressure) },
      shrink: { [makers = shared.makers] in
        makers.removeIdle()
        Allocator.shrink()
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

  /// Waits for all operations, including the new ones for sources that memory pressure has cancelled.
  private func finish() {
    repeat {
      resubmit()
      queue.drain()
    } while state.withLock({ !$0.requeued.isEmpty })
    queue.close()
  }
}
