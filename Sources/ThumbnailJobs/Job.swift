import BoundedQueue
import Fetching
import Files
import Foundation
import Ledger
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
/// The code is in eight files: running and finishing (this one), intake (`Job+Intake`), that of sources from the
/// network (`Job+Network`), steering (`Job+Steering`), the results of ended operations (`Job+EndedOperations`), what is
/// made of all thumbnails (`Job+Joins`), what is removed afterwards (`Job+Prune`), and following the changes in folders
/// (`Job+Watch`).
///
/// *Concurrency*: call ``run()`` once, on a thread that may block. Everything else may be called from any thread at any
/// time.
public final class Job: Sendable {
  struct State {
    var tally = JobTally()
    var startedAt: ContinuousClock.Instant?
    var stopCause: StopCause?
    /// Whether an output can take no more thumbnails.
    var hasOutputFailed = false
    /// The number of all sources; nil until it is known.
    var total: Int?
    /// Sources whose last operation has ended and that need another one. At most as many as operations ran and waited
    /// at one time.
    var requeued: [SourceTask] = []
    /// Sources that were under way when an earlier run died. They are tried last, one at a time.
    var suspects: [SourceTask] = []
    /// Nil before the job runs.
    var monitor: PressureMonitor?
    /// Nil before and after the job runs.
    var governor: PressureGovernor?
    /// Ends fetches that run too long. Nil before the first fetch.
    var fetchWatchdog: Ticker?
  }

  public let queue: BoundedOperationQueue
  public let settings: JobSettings
  /// The memory that the operations may hold together.
  public let memory: MemoryPlan
  /// Nil if the job records no trace.
  public let trace: TraceRecorder?
  let outputs: [ThumbnailOutput]
  /// Whether one of the arguments exists. If none does, the job makes no output folder.
  let hasSources: Bool
  let walker: SourceWalker
  /// Nil if the job makes nothing but thumbnails.
  let joins: Joins?
  /// The disks of the source folders, on which depends what may be removed.
  let seenDisks = SeenDisks()
  /// Nil if no source exists.
  let ledger: JobLedger?
  let network: Network
  /// Nil if the thumbnails are in folders, and in a dry run.
  let work: WorkFolder?
  /// Nil if the job ends once all thumbnails are made.
  let watch: SourceWatch?
  let shared: SourceOperation.Shared
  let onEvent: @Sendable (JobEvent) -> Void
  /// Guards everything that changes while the job runs.
  let state = Locked(State())
  /// Whether ``countAhead()`` was called.
  let isCounted = Atomic(false)
  private let surroundings: Surroundings
  private let pressureRules: PressureRules

  /// Makes the output folders, except in a dry run or if no source exists.
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
    try Self.checkSources(settings)
    hasSources = settings.sources.contains(where: \.exists)
    let isRead = settings.dryRun || !hasSources
    let work = isRead || settings.bucketOutputs.isEmpty ? nil : try WorkFolder()
    let local = settings.outputs.indices.map { work?.path.appending(Path("\($0)")) ?? settings.outputs[$0].folder }
    self.work = work
    network = Network(
      settings.network, folder: local[0].appending(SourceWalker.workingFolderName), program: settings.program,
      sources: (settings.backlog ?? 4 * settings.maxInUse) + settings.maxInUse,
      fetches: settings.mayFetch, keeps: !settings.bucketOutputs.isEmpty)
    var outputs: [ThumbnailOutput] = []
    for (output, local) in zip(settings.outputs, local) {
      var options = output.thumbnailOptions(failOn: settings.failOn, limitPixels: settings.limitPixels)
      options.makesPlaceholder = !settings.joins.isEmpty
      let bucket = output.location.map { [network] in
        BucketOutput(location: $0, store: network, isForced: settings.force)
      }
      outputs.append(
        try ThumbnailOutput(
          path: output.place, name: output.name, options: options, isForced: settings.force,
          isDurable: settings.durable, isDryRun: isRead, bucket: bucket,
          work: local))
    }
    try Self.checkFoldersDiffer(outputs)
    self.outputs = outputs
    walker = SourceWalker(
      arguments: settings.sources, filter: settings.filter, followsLinks: settings.followsLinks,
      isSorted: !settings.joins.isEmpty, outputs: settings.mirroredOutputs, shard: settings.shard, lister: network,
      bucketOutputs: settings.bucketOutputs)
    watch = settings.watch.map { [walker] in SourceWatch($0, walker) }
    joins =
      settings.joins.isEmpty || settings.dryRun || !hasSources
      ? nil : try Joins(settings.joins, outputs: outputs, tree: walker.tree.root, isDurable: settings.durable)
    let limit = MemoryLimit.find(in: surroundings)
    memory = MemoryPlan(
      settings.memory, limit: limit, usage: UsageReader(limit: limit, surroundings: surroundings).read())
    queue = BoundedOperationQueue(
      name: "thumbnails", max: settings.maxInUse, backlog: settings.backlog, budget: memory.budget)
    ledger = hasSources ? JobLedger(outputs, settings) : nil
    shared = SourceOperation.Shared(
      outputs: outputs,
      owners: Owners(
        remembered: { [ledger] in ledger?.sources(withKey: $0) ?? [] }, forget: { [ledger] in ledger?.forget(key: $0) },
        plan: OutputPlan(walker: walker, isMirrored: outputs.contains(where: \.isMirrored)), tree: walker.tree.root),
      memory: memory,
      decoders: PictureDecoders(settings.isolate, mostIdle: settings.maxInUse) { onEvent(.fence($0)) },
      retries: settings.retries, trace: trace,
      hashesSources: settings.verify == .content, underWay: ledger?.underWay,
      onThumbnail: onThumbnail)
    if let trace {
      let operations = OperationTrace(trace)
      queue.observe { operations.record($0) }
      network.queue.observe { operations.record($0) }
    }
    queue.observe { [weak self] event in
      guard case .ended(let outcome) = event.change else { return }
      self?.trace.span("Job.ended") { self?.ended(event.operation, outcome) }
    }
  }

  /// Refuses outputs in which photos would be passed over: an output that is or encloses every source, and an output
  /// that is in a source folder and has photos before its first use.
  private static func checkSources(_ settings: JobSettings) throws(OutputError) {
    let parts = settings.bucketOutputs
    if !parts.isEmpty,
      let first = settings.sources.first,
      settings.sources.allSatisfy({ source in
        guard case .address(.s3(let location)) = source else { return false }
        return parts.contains { $0.contains(location.asFolder) }
      })
    {
      throw OutputError(.isSource, Path(first.description))
    }
    let outputs = FolderSet(settings.mirroredOutputs)
    var folders: [Path] = []
    for case .path(let path) in settings.sources { folders.append(path) }
    if let first = folders.first, folders.count == settings.sources.count,
      folders.allSatisfy({ SourceArgument.path($0).exists && outputs.encloses($0) })
    {
      throw OutputError(.isSource, first)
    }
    for output in settings.mirroredOutputs {
      let isUsed = FileIdentity(of: output.appending(EarlierRuns.treeFile)) != nil
      // The sources are checked last, because there may be very many. Most outputs are new or were used before.
      guard !isUsed, FileIdentity(of: output.appending(".")) != nil, FolderSet(folders).encloses(output),
        let photo = firstPhoto(in: output)
      else { continue }
      throw OutputError(.hasPhotos(photo), output)
    }
  }

  /// The first picture in a folder that is not a thumbnail of thumbjob.
  private static func firstPhoto(in folder: Path) -> Path? {
    var photo: Path?
    SourceWalker(arguments: [.path(folder)]).walk(
      onError: { _ in },
      visit: { source in
        if SourceFile.isPicture(source.path) { photo = source.path }
        return photo == nil ? .goOn : .stop
      })
    return photo
  }

  /// Two outputs with the same folder, even under different paths, would overwrite each other's thumbnails, and so may
  /// two of which one is in the other.
  private static func checkFoldersDiffer(_ outputs: [ThumbnailOutput]) throws(OutputError) {
    for (index, output) in outputs.enumerated() {
      for other in outputs[..<index] {
        guard let one = output.bucket?.location, let two = other.bucket?.location else { continue }
        if one.contains(two) || two.contains(one) { throw OutputError(.shared, output.path) }
      }
    }
    var folders: Set<FileIdentity> = []
    for folder in outputs.flatMap(\.folders) {
      if let identity = FileIdentity(of: folder), !folders.insert(identity).inserted {
        throw OutputError(.shared, folder)
      }
    }
    for (index, output) in outputs.enumerated() {
      var others = outputs
      others.remove(at: index)
      if FolderSet(others.map(\.path)).encloses(output.path) { throw OutputError(.shared, output.path) }
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
        signals: settings.pressureSource, rules: memory.rules(pressureRules), under: memory.limit, in: surroundings,
        onOpening: { reports in governor.deliver { self.onEvent(.watching(reports)) } },
        handler: { governor.handle($0) })
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
    let watchdog = Watchdog(queue: queue, timeout: settings.timeout, total: settings.runFor) { self.stop(.timeIsUp) }
    let audit = ReservationAudit(queue, memory, in: surroundings)
    let tickers = [
      watchdog.start(),
      Ticker(name: "memory", every: PressurePolicy.tick) {
        self.trace.span("ReservationAudit.measure") { audit.measure() }
        self.shared.decoders.measureMemory()
        self.trace.span("PressureGovernor.tick") { governor.tick() }
        self.traceCounters(monitor.snapshot)
      },
      Ticker(name: "ledger", every: .seconds(1), startsAtOnce: true) {
        self.trace.span("JobLedger.write") { self.ledger?.write() }
      },
    ]
    if hasSources, let obstacle = PictureDecoders.obstacle { onEvent(.noDecoder(obstacle)) }
    let (walk, isWalkComplete) = watch.map(watchSources) ?? walkSources()
    let joins = finish()
    for ticker in tickers { ticker.stop() }
    state.withLock { $0.fetchWatchdog }?.stop()
    monitor.stop()
    governor.finish()
    if isWalkComplete { rememberDisks() }
    ledger?.finish()
    if let problem = ledger?.problem { onEvent(.ledger(problem)) }
    let (tally, stopCause, total) = state.withLock { state in
      // The governor keeps the job alive, so the job must not keep the governor.
      state.governor = nil
      return (state.tally, state.stopCause, state.total)
    }
    if tally.thumbnails > 0 || tally.upToDate > 0 {
      // The thumbnails are good without this note, which only saves a later user a surprise.
      for output in outputs { try? output.note(tree: walker.tree.root) }
    }
    closeOutputs()
    shared.decoders.measureMemory()
    // Only now does the system count their processor time as used by this process.
    shared.decoders.removeIdle()
    return JobReport(
      tally: tally, walk: walk, counters: queue.counters, limits: queue.widestLimits, elapsed: .now - startedAt,
      peakMemory: JobReport.peakMemory() + shared.decoders.peakMemory, memory: memory,
      worstMemoryRatio: audit.worstRatio,
      pressureSource: monitor.snapshot.signals, stopCause: stopCause, isWalkComplete: isWalkComplete,
      unmatchedPatterns: isWalkComplete && walk.hasFiltered ? settings.filter.unmatched(walk.matches) : ([], []),
      earlier: outputs.map(\.earlier), tree: walker.tree.root,
      replaced: outputs.reduce(0) { $0 + ($1.folder?.replacedCount ?? 0) },
      replacedOthers: outputs.reduce(0) { $0 + ($1.folder?.replacedOthersCount ?? 0) },
      fetches: network.queue.counters.submitted > 0 ? network.counters : nil,
      joins: joins, notReached: total.map { isWalkComplete ? 0 : max(0, $0 - tally.found) })
  }

  private func makeGovernor() -> PressureGovernor {
    PressureGovernor(
      queue: queue, response: settings.onPressure, stop: { self.stop(.pressure) },
      shrink: { [makers = shared.makers, decoders = shared.decoders] in
        makers.removeIdle()
        decoders.removeIdle()
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

  /// Waits for all operations, tries the suspects, and makes the joins.
  private func finish() -> [JoinReport] {
    drain()
    trySuspects()
    let joins = makeJoins()
    queue.close()
    network.shutDown()
    return joins
  }

  /// Tries the suspects one at a time, after everything else: if the process dies again, it is known which of them was
  /// under way.
  func trySuspects() {
    let suspects = state.withLock { state in
      defer { state.suspects = [] }
      return state.suspects
    }
    for suspect in suspects {
      drain()
      ledger?.write()
      if !submit(makeOperation(for: suspect)) { _ = watch?.ended(suspect.source.path) }
    }
    if !suspects.isEmpty { drain() }
  }

  /// Waits for all operations, including the new ones for those that memory pressure has cancelled.
  private func drain() {
    repeat {
      resubmit()
      queue.drain()
    } while state.withLock { !$0.requeued.isEmpty }
  }
}
