import BoundedQueue
import Foundation
import Jobs
import Locking
import PictureMaking
import StatusEndpoint
import Synchronization

/// Connects a job to its status endpoint: it provides snapshots, carries out commands, and posts changes.
///
/// *Concurrency*: the endpoint's thread asks for snapshots, and any thread may post changes; each part has its own
/// lock. A snapshot never waits for work. Commands run on a thread of their own, because they may block: they call
/// observers, which may wait for a reader of the job's output.
final class JobEndpoint: RunDataSource, RunControl {
  let feed = EventFeed()
  let thumbnails: LatestThumbnails
  let times = RunTimes()
  private let job: Job
  private let recent = RecentOperations()
  private let rates = RecentRate()
  private let startedAt = Date()
  /// The first arguments and output folders of the job, as text.
  private let sources, outputs: [String]
  private static let pathsShown = 20
  /// How the run has ended; nil before.
  private let outcome = Locked<RunOutcome?>(nil)
  /// Whether a client has cancelled the job. Further requests are dropped, so that they cannot pile up.
  private let hasCancelledAll = Atomic(false)
  private let steering = SerialThread(name: "steering")
  /// Cancels the job as USR2 does, and returns at once.
  private let stop: @Sendable () -> Void

  init(_ job: Job, thumbnails: LatestThumbnails, stop: @escaping @Sendable () -> Void) {
    self.job = job
    self.thumbnails = thumbnails
    self.stop = stop
    sources = job.settings.sources.prefix(Self.pathsShown).map { "\($0)" }
    outputs = job.settings.places.prefix(Self.pathsShown).map { $0.printable }
    for queue in job.queues {
      // Fetches take other times than thumbnails.
      let isTimed = queue === job.queue
      queue.observe { [weak self, trace = job.trace] event in
        trace.span("JobEndpoint.handle") { self?.handle(event, isTimed: isTimed) }
      }
    }
  }

  // MARK: Changes

  /// - Parameter isTimed: whether the times of the operation count.
  private func handle(_ event: QueueEvent, isTimed: Bool) {
    guard case .ended(let outcome) = event.change else {
      return feed.post(.operation(OperationStatus(event.operation.snapshot())))
    }
    let snapshot = event.operation.snapshot()
    let isDone = if case .succeeded = outcome { true } else { false }
    recent.add(snapshot.id, isDone: isDone) { OperationStatus(snapshot) }
    if isTimed {
      times.waitingForPlace.record(snapshot.waited)
      if outcome.hasRun {
        times.waitingForMemory.record(snapshot.waitedForMemory)
        times.working.record(snapshot.ran)
      }
    }
    feed.post(.operation(OperationStatus(snapshot)))
  }

  func handle(_ note: PressureNote) {
    switch note.level {
    case .normal: break
    case .warning: thumbnails.trim()
    case .critical: thumbnails.removeAll()
    }
    feed.post(.pressure(status(listing: 0).pressure))
    feed.post(.limits(RunLimits(job.queue.limits)))
    postState()
  }

  func postState() { feed.post(stateChange()) }

  private func stateChange() -> StateChange {
    let status = status(listing: 0)
    return .run(status.state, pausedBy: status.pausedBy)
  }

  /// Call it when the run is over. A second call replaces the outcome.
  func finish(_ outcome: RunOutcome) {
    self.outcome.withLock { $0 = outcome }
    postState()
  }

  // MARK: Snapshots

  let counters = JobTally.counters.filter { $0.readers.contains(.status) }.map { RunCounter($0) }

  func status(listing limit: Int) -> RunStatus {
    // Counts only if a client asks, because counting walks all folders a second time.
    if limit > 0 { job.countAhead() }
    let status = job.trace.span("Job.status") { job.status(waitingLimit: limit) }
    let outcome = outcome.withLock { $0 }
    let state = state(status, outcome)
    let counters = RunCounters(status)
    let rate = rates.rate(ended: counters.ended, made: counters.made, at: status.elapsed)
    let elapsed = max(status.elapsed / .seconds(1), 0.001)
    let remaining = status.total.map { max(0, $0 - counters.ended) }
    let isGoing = state == .running && rate.made > 0
    return RunStatus(
      version: Version.current, pid: Int(ProcessInfo.processInfo.processIdentifier), sources: sources,
      outputs: outputs, startedAt: startedAt.timeIntervalSince1970, elapsedSeconds: status.elapsed / .seconds(1),
      state: state, pausedBy: state == .paused ? PauseCause.all(in: status.queue.pauses) : nil,
      waitsFor: status.awaited.isEmpty ? nil : status.awaited.map(\.description),
      stopReason: status.stopCause.map { "stopped \($0.text)" }, outcome: outcome, counters: counters,
      limits: RunLimits(status.queue.limits),
      memory: MemoryStatus(
        reservedBytes: status.queue.counters.reserved, peakReservedBytes: status.queue.counters.peakReserved,
        budgetBytes: status.queue.limits.budget?.bytes ?? 0,
        residentBytes: status.pressure?.usage.resident ?? job.memory.baseline, limitBytes: job.memory.limit.bytes),
      pressure: PressureStatus(
        level: status.pressure.map { PressureStatus.Level($0.level) } ?? .normal,
        source: status.pressure?.signals.rawValue ?? "off", cause: status.pressure?.cause?.description,
        warnings: status.tally.pressureWarnings, criticals: status.tally.pressureCriticals),
      rates: RunRates(
        sourcesPerSecond: rate.ended, thumbnailsPerSecond: Double(counters.thumbnails) / elapsed,
        bytesPerSecond: Double(counters.bytesRead) / elapsed),
      watch: status.watch.map { WatchStatus($0, removed: status.tally.removed) }, fetches: FetchStatus(status),
      etaSeconds: isGoing && status.elapsed >= RunTimeLeft.patience
        ? remaining.map { RunTimeLeft.rounded(Double($0) / rate.made) } : nil,
      running: (status.queue.running + (status.fetches?.running ?? [])).prefix(limit).map { OperationStatus($0) },
      waiting: (status.queue.waiting + (status.fetches?.waiting ?? [])).prefix(limit).map { OperationStatus($0) })
  }

  private func state(_ status: JobStatus, _ outcome: RunOutcome?) -> RunState {
    if outcome != nil { return .finished }
    if status.stopCause != nil { return .stopping }
    return status.queue.pauses.isEmpty ? .running : .paused
  }

  func operations(_ query: OperationQuery) -> OperationPage {
    // One more than a page has, to see whether another page follows.
    let limit = query.states.contains(.waiting) ? query.limit + 1 : 0
    let snapshots = job.trace.span("BoundedOperationQueue.snapshot") {
      job.queues.map { $0.snapshot(waitingLimit: limit, waitingAfter: query.after) }
    }
    let waiting = snapshots.flatMap(\.waiting).sorted { $0.id < $1.id }.prefix(limit)
    let live = (snapshots.flatMap(\.running) + waiting).map { OperationStatus($0) }
    return OperationPage(query, from: live + recent.operations(query))
  }

  func operation(_ id: Int) -> OperationStatus? {
    job.queues.lazy.compactMap { $0.snapshot(of: id) }.first.map { OperationStatus($0) } ?? recent.operation(id)
  }

  // MARK: Commands

  func cancel(_ id: Int) async -> CancelAnswer {
    await steered { [self] in
      let state = job.queues.lazy.compactMap { $0.snapshot(of: id) }.first?.state
      if job.queues.contains(where: { $0.cancel(id: id, reason: .user) }) {
        if case .running = state { return .wasRunning }
        return .wasWaiting
      }
      return recent.operation(id) == nil ? .isUnknown : .hasEnded
    }
  }

  func cancelAll() async -> CancelledCount {
    let counters = job.queue.counters
    if !hasCancelledAll.exchange(true, ordering: .acquiringAndReleasing) { stop() }
    return CancelledCount(waiting: counters.waiting, running: counters.running)
  }

  func pause() async {
    await steered { [self] in
      job.pause()
      postState()
    }
  }

  func resume() async {
    await steered { [self] in
      job.resume()
      postState()
    }
  }

  func change(_ limits: LimitsChange) async throws(LimitsError) -> RunLimits {
    let changed: Result<RunLimits, LimitsError> = await steered { [self] in
      if let max = limits.max, max > job.queue.limits.maxConcurrentOperations,
        let problem = ProcessLimits.problem(max: max)
      {
        return .failure(LimitsError("max: the process \(problem)"))
      }
      let changed = job.changeLimits(max: limits.max, backlog: limits.backlog, budget: limits.budgetBytes)
      feed.post(.limits(RunLimits(changed)))
      return .success(RunLimits(changed))
    }
    return try changed.get()
  }

  /// Waits until `body` has run on the thread of commands.
  private func steered<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
    await withCheckedContinuation { continuation in
      steering.async { continuation.resume(returning: body()) }
    }
  }
}
