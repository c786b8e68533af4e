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
/// lock. A snapshot never waits for work.
final class JobEndpoint: RunDataSource, RunControl {
  let thumbnails: LatestThumbnails
  let queues: EndpointQueues
  private let job: Job
  private let rates = RecentRate()
  private let startedAt = Date()
  /// The first arguments and output folders of the job, as text.
  private let sources, outputs: [String]
  private static let pathsShown = 20
  /// How the run has ended; nil before.
  private let outcome = Locked<RunOutcome?>(nil)
  /// Whether a client has cancelled the job. Further requests are dropped, so that they cannot pile up.
  private let hasCancelledAll = Atomic(false)
  /// Cancels the job as USR2 does, and returns at once.
  private let stop: @Sendable () -> Void

  init(_ job: Job, thumbnails: LatestThumbnails, stop: @escaping @Sendable () -> Void) {
    self.job = job
    self.thumbnails = thumbnails
    self.stop = stop
    sources = job.settings.sources.prefix(Self.pathsShown).map { "\($0)" }
    outputs = job.settings.places.prefix(Self.pathsShown).map { $0.printable }
    queues = EndpointQueues(job.queues, timed: job.queue, trace: job.trace)
  }

  // MARK: Changes

  func handle(_ note: PressureNote) {
    switch note.level {
    case .normal: break
    case .warning: thumbnails.trim()
    case .critical: thumbnails.removeAll()
    }
    queues.feed.post(.pressure(status(listing: 0).pressure))
    queues.feed.post(.limits(RunLimits(job.queue.limits)))
    postState()
  }

  func postState() { queues.feed.post(stateChange()) }

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
    let lists = [status.queue, status.fetches, status.reads].compactMap { $0 }
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
      running: lists.flatMap(\.running).prefix(limit).map { OperationStatus($0) },
      waiting: lists.flatMap(\.waiting).prefix(limit).map { OperationStatus($0) })
  }

  private func state(_ status: JobStatus, _ outcome: RunOutcome?) -> RunState {
    if outcome != nil { return .finished }
    if status.stopCause != nil { return .stopping }
    return status.queue.pauses.isEmpty ? .running : .paused
  }

  func operations(_ query: OperationQuery) -> OperationPage { queues.operations(query) }

  func operation(_ id: Int) -> OperationStatus? { queues.operation(id) }

  // MARK: Commands

  func cancel(_ id: Int) async -> CancelAnswer { await queues.cancel(id) }

  func cancelAll() async -> CancelledCount {
    let counters = job.queue.counters
    if !hasCancelledAll.exchange(true, ordering: .acquiringAndReleasing) { stop() }
    return CancelledCount(waiting: counters.waiting, running: counters.running)
  }

  func pause() async {
    await queues.steer { [self] in
      job.pause()
      postState()
    }
  }

  func resume() async {
    await queues.steer { [self] in
      job.resume()
      postState()
    }
  }

  func change(_ limits: LimitsChange) async throws(LimitsError) -> RunLimits {
    try await queues.change(limits, of: job.queue) { [job] in
      job.changeLimits(max: limits.max, backlog: limits.backlog, budget: limits.budgetBytes)
    }
  }
}
