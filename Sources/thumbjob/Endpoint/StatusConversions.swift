import BoundedQueue
import Files
import Foundation
import Jobs
import MemoryPressure
import StatusEndpoint

// Conversions from the types of the queue and the job to those of the status endpoint, which knows neither.

extension RunCounters {
  init(_ status: JobStatus) {
    let counters = status.queue.counters
    self.init(status.tally.numbers(for: .status), total: status.total)
    (waiting, running) = (counters.waiting, counters.running)
    (waitingForDependencies, waitingForMemory) = (counters.waitingForDependencies, counters.waitingForMemory)
    cancelledForDependencies = counters.cancelledForDependencies
    (peakRunning, peakWaiting) = (counters.peakRunning, counters.peakWaiting)
  }
}

extension RunCounter {
  init(_ counter: TallyCounter) {
    let metric: Metric =
      switch counter.metric {
      case .total(let name): .total(name)
      case .outcome: .outcome
      }
    self.init(counter.key, counter.meaning, metric: metric)
  }
}

extension RunLimits {
  init(_ limits: QueueLimits) {
    self.init(max: limits.maxConcurrentOperations, backlog: limits.backlog, budgetBytes: limits.budget?.bytes ?? 0)
  }
}

extension PauseCause {
  static func all(in pauses: PauseReason) -> [PauseCause] {
    let causes: [(PauseReason, PauseCause)] = [(.user, .user), (.pressure, .pressure), (.output, .output)]
    return causes.filter { pauses.contains($0.0) }.map(\.1)
  }
}

extension PressureStatus.Level {
  init(_ level: PressureLevel) {
    switch level {
    case .normal: self = .normal
    case .warning: self = .warning
    case .critical: self = .critical
    }
  }
}

extension OperationStatus {
  init(_ snapshot: OperationSnapshot) {
    let source = snapshot.source.map { Path(printable: $0) ?? Path($0) }
    var reason = snapshot.cancelReason.map { "cancelled \($0)" }
    if let failed = snapshot.failedDependency { reason = "cancelled because \(failed)" }
    let state: State
    switch snapshot.state {
    case .waiting: state = .waiting
    case .running: state = .running
    case .ended(.succeeded): state = .finished
    case .ended(.failed(let error)): (state, reason) = (.failed, Advice.line(error))
    case .ended(.cancelledWhileWaiting), .ended(.cancelledWhileRunning): state = .cancelled
    }
    self.init(
      id: snapshot.id, description: snapshot.title, source: source, state: state, stage: snapshot.stage,
      fraction: snapshot.fraction, waitedSeconds: snapshot.waited / .seconds(1),
      ranSeconds: snapshot.ran / .seconds(1), reservedBytes: snapshot.bytesReserved, waitReason: snapshot.waitReason,
      waitsFor: snapshot.waitsFor.compactMap(\.id), waitsForCount: snapshot.waitsForCount,
      neededBy: state.isEnded ? 0 : snapshot.neededBy, reason: reason)
  }
}

extension Outcome {
  /// Whether the operation has started.
  var hasRun: Bool { if case .cancelledWhileWaiting = self { false } else { true } }
}

extension WatchStatus {
  init(_ counters: WatchCounters, removed: Int) {
    self.init(
      folders: counters.folders, polledFolders: counters.polledFolders, changes: counters.changes,
      waitingChanges: counters.waiting, walks: counters.walks, removed: removed,
      lastChangeAt: counters.lastChange?.timeIntervalSince1970)
  }
}

extension FetchStatus {
  /// Nil if the job has no sources from the network.
  init?(_ status: JobStatus) {
    guard let counters = status.fetches?.counters, let fetched = status.fetched else { return nil }
    self.init(
      fetched: fetched.fetched, unchanged: fetched.unchanged, failed: fetched.failed, bytes: fetched.bytes,
      running: counters.running, waiting: counters.waiting)
  }
}
