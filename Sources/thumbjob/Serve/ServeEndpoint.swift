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
  let queues: EndpointQueues
  let counters = ServeTally.counters
  private let service: PreviewService
  private let tally: ServeTally
  private let address: String
  private let rates = RecentRate()
  private let startedAt = Date()
  private let start = ContinuousClock.now
  /// Why the server ends; nil before.
  private let ending = Locked<String?>(nil)
  /// How often memory became tight.
  private let pressures = Locked((warnings: 0, criticals: 0))

  init(_ service: PreviewService, _ tally: ServeTally, address: String) {
    (self.service, self.tally, self.address) = (service, tally, address)
    queues = EndpointQueues([service.queue, service.bodies], timed: service.queue)
  }

  // MARK: Changes

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
    queues.feed.post(.pressure(status(listing: 0).pressure))
    queues.feed.post(.limits(RunLimits(service.queue.limits)))
    postState()
  }

  /// The server takes no more requests.
  func end(_ reason: String) {
    ending.withLock { $0 = $0 ?? reason }
    postState()
  }

  private func postState() {
    let status = status(listing: 0)
    queues.feed.post(.run(status.state, pausedBy: status.pausedBy))
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
      version: Version.current, pid: Int(ProcessInfo.processInfo.processIdentifier), sources: ["requests"],
      outputs: [address],
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

  var metrics: [MetricFamily] {
    tally.metrics + [
      MetricFamily(
        "thumbjob_spool_bytes", .gauge, "Room of the spool that is kept for pictures.",
        [MetricFamily.Sample(service.spool.bytesInUse)]),
      MetricFamily(
        "thumbjob_unread_bytes", .gauge, "Bytes of previews that clients have not read yet.",
        [MetricFamily.Sample(service.unread.bytes)]),
    ]
  }

  func operations(_ query: OperationQuery) -> OperationPage { queues.operations(query) }

  func operation(_ id: Int) -> OperationStatus? { queues.operation(id) }

  // MARK: Commands

  func cancel(_ id: Int) async -> CancelAnswer { await queues.cancel(id) }

  func cancelAll() async -> CancelledCount {
    await queues.steer { [service] in
      let cancelled = service.cancelAll(.user)
      return CancelledCount(waiting: cancelled.waiting, running: cancelled.running)
    }
  }

  func pause() async {
    await queues.steer { [self] in
      service.queue.pause()
      postState()
    }
  }

  func resume() async {
    await queues.steer { [self] in
      service.queue.resume()
      postState()
    }
  }

  func change(_ limits: LimitsChange) async throws(LimitsError) -> RunLimits {
    try await queues.change(limits, of: service.queue) { [service] in
      service.changeLimits(max: limits.max, backlog: limits.backlog, budget: limits.budgetBytes)
    }
  }
}
#endif
