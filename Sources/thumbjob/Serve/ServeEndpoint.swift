#if Endpoint
import BoundedQueue
import Foundation
import Locking
import PictureMaking
import Previews
import StatusEndpoint

/// Connects a server of previews to its status endpoint: it provides snapshots, carries out commands, and posts changes.
///
/// *Concurrency*: as ``JobEndpoint``.
final class ServeEndpoint: RunDataSource, RunControl {
  let feed = EventFeed()
  let times = RunTimes()
  let counters = ServeTally.counters
  private let service: PreviewService
  private let tally: ServeTally
  private let address: String
  private let recent = RecentOperations()
  private let rates = RecentRate()
  private let startedAt = Date()
  private let start = ContinuousClock.now
  private let steering = SerialThread(name: "steering")
  /// Why the server ends; nil before.
  private let ending = Locked<String?>(nil)
  /// How often memory became tight.
  private let pressures = Locked((warnings: 0, criticals: 0))

  init(_ service: PreviewService, _ tally: ServeTally, address: String) {
    (self.service, self.tally, self.address) = (service, tally, address)
    for queue in [service.queue, service.bodies] {
      let isTimed = queue === service.queue
      queue.observe { [weak self] event in self?.handle(event, isTimed: isTimed) }
    }
  }

  // MARK: Changes

  private func handle(_ event: QueueEvent, isTimed: Bool) {
    let snapshot = event.operation.snapshot()
    if case .ended(let outcome) = event.change {
      let isDone = if case .succeeded = outcome { true } else { false }
      recent.add(snapshot.id, isDone: isDone) { OperationStatus(snapshot) }
      if isTimed {
        times.waitingForPlace.record(snapshot.waited)
        if outcome.hasRun {
          times.waitingForMemory.record(snapshot.waitedForMemory)
          times.working.record(snapshot.ran)
        }
      }
    }
    feed.post(.operation(OperationStatus(snapshot)))
  }

  func handle(_ note: PressureNote) {
    if note.isChange {
      pressures.withLock { counts in
        switch note.level {
        case .normal: break
        case .warning: counts.warnings += 1
        case .critical: counts.criticals += 1
        }
      }
    }
    feed.post(.pressure(status(listing: 0).pressure))
    feed.post(.limits(RunLimits(service.queue.limits)))
    postState()
  }

  /// The server takes no more requests.
  func end(_ reason: String) {
    ending.withLock { $0 = $0 ?? reason }
    postState()
  }

  private func postState() {
    let status = status(listing: 0)
    feed.post(.run(status.state, pausedBy: status.pausedBy))
  }

  // MARK: Snapshots

  func status(listing limit: Int) -> RunStatus {
    let (previews, bodies) = (service.queue.snapshot(waitingLimit: limit), service.bodies.snapshot(waitingLimit: limit))
    let elapsed = ContinuousClock.now - start
    let reason = ending.withLock { $0 }
    let state: RunState = reason != nil ? .stopping : previews.pauses.isEmpty ? .running : .paused
    var counters = tally.asRunCounters
    // Pictures that are coming take no place.
    counters.waiting = previews.counters.waiting + bodies.counters.waiting + bodies.counters.running
    counters.running = previews.counters.running
    counters.waitingForMemory = previews.counters.waitingForMemory
    (counters.peakRunning, counters.peakWaiting) = (previews.counters.peakRunning, previews.counters.peakWaiting)
    let rate = rates.rate(ended: counters.ended, made: counters.made, at: elapsed)
    let pressure = service.pressure
    let levels = pressures.withLock { $0 }
    let seconds = max(elapsed / .seconds(1), 0.001)
    return RunStatus(
      version: Version.current, pid: Int(ProcessInfo.processInfo.processIdentifier), sources: [address],
      outputs: ["its clients"],
      startedAt: startedAt.timeIntervalSince1970, elapsedSeconds: elapsed / .seconds(1), state: state,
      pausedBy: state == .paused ? PauseCause.all(in: previews.pauses) : nil, stopReason: reason, counters: counters,
      limits: RunLimits(previews.limits),
      memory: MemoryStatus(
        reservedBytes: previews.counters.reserved, peakReservedBytes: previews.counters.peakReserved,
        budgetBytes: previews.limits.budget?.bytes ?? 0,
        residentBytes: pressure?.usage.resident ?? service.memory.baseline, limitBytes: service.memory.limit.bytes),
      pressure: PressureStatus(
        level: pressure.map { PressureStatus.Level($0.level) } ?? .normal, source: pressure?.signals.rawValue ?? "off",
        cause: pressure?.cause?.description, warnings: levels.warnings, criticals: levels.criticals),
      rates: RunRates(
        sourcesPerSecond: rate.ended, thumbnailsPerSecond: Double(counters.thumbnails) / seconds,
        bytesPerSecond: Double(counters.bytesRead) / seconds),
      running: (previews.running + bodies.running).prefix(limit).map { OperationStatus($0) },
      waiting: (previews.waiting + bodies.waiting).prefix(limit).map { OperationStatus($0) })
  }

  func operations(_ query: OperationQuery) -> OperationPage {
    let limit = query.states.contains(.waiting) ? query.limit + 1 : 0
    let snapshots = queues.map { $0.snapshot(waitingLimit: limit, waitingAfter: query.after) }
    let waiting = snapshots.flatMap(\.waiting).sorted { $0.id < $1.id }.prefix(limit)
    let live = (snapshots.flatMap(\.running) + waiting).map { OperationStatus($0) }
    return OperationPage(query, from: live + recent.operations(query))
  }

  func operation(_ id: Int) -> OperationStatus? {
    queues.lazy.compactMap { $0.snapshot(of: id) }.first.map { OperationStatus($0) } ?? recent.operation(id)
  }

  private var queues: [BoundedOperationQueue] { [service.queue, service.bodies] }

  // MARK: Commands

  func cancel(_ id: Int) async -> CancelAnswer {
    await steered { [self] in
      let state = queues.lazy.compactMap { $0.snapshot(of: id) }.first?.state
      if queues.contains(where: { $0.cancel(id: id, reason: .user) }) {
        if case .running = state { return .wasRunning }
        return .wasWaiting
      }
      return recent.operation(id) == nil ? .isUnknown : .hasEnded
    }
  }

  func cancelAll() async -> CancelledCount {
    await steered { [service] in
      let cancelled = service.cancelAll(.user)
      return CancelledCount(waiting: cancelled.waiting, running: cancelled.running)
    }
  }

  func pause() async {
    await steered { [self] in
      service.queue.pause()
      postState()
    }
  }

  func resume() async {
    await steered { [self] in
      service.queue.resume()
      postState()
    }
  }

  func change(_ limits: LimitsChange) async throws(LimitsError) -> RunLimits {
    let changed: Result<RunLimits, LimitsError> = await steered { [self] in
      if let max = limits.max, max > service.queue.limits.maxConcurrentOperations,
        let problem = ProcessLimits.problem(max: max)
      {
        return .failure(LimitsError("max: the process \(problem)"))
      }
      service.changeLimits(max: limits.max, backlog: limits.backlog, budget: limits.budgetBytes)
      let changed = RunLimits(service.queue.limits)
      feed.post(.limits(changed))
      return .success(changed)
    }
    return try changed.get()
  }

  private func steered<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
    await withCheckedContinuation { continuation in
      steering.async { continuation.resume(returning: body()) }
    }
  }
}
#endif
