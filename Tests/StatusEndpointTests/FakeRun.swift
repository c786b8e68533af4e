import Files
import Foundation
import StatusEndpoint
import TestSupport

/// A run with a fixed state that fills every field, and that records the commands it gets.
final class FakeRun: RunDataSource, RunControl {
  enum Command: Equatable {
    case cancel(Int)
    case cancelAll, pause, resume
    case change(LimitsChange)
  }

  let commands = LockedBox<[Command]>([])
  let state = LockedBox(RunState.running)
  let recent = RecentOperations()
  /// The number of calls of `status`.
  let statusCalls = LockedBox(0)
  private let live: [OperationStatus]

  static let running = OperationStatus(
    id: 3, description: "thumbnail c.jpg", source: "c \"<&\u{1F642}.jpg", state: .running, stage: "decoding",
    fraction: 0.5, waitedSeconds: 1, ranSeconds: 2, reservedBytes: 1 << 20, waitReason: "waits for memory",
    reason: "asked to stop")
  static let waiting = OperationStatus(
    id: 4, description: "thumbnail d.jpg", source: Path(bytes: [0x64, 0xff])!, state: .waiting, waitedSeconds: 3,
    ranSeconds: 0,
    waitReason: "waits for #3 and 1 more", waitsFor: [3], waitsForCount: 2, neededBy: 1)

  static let outcome = RunOutcome(.stopped, cause: .time, text: "stopped: 1 made", exitStatus: 75)

  /// - Parameter more: the number of further waiting operations.
  init(more: Int = 0) {
    live =
      [Self.running, Self.waiting]
      + (0..<more).map {
        OperationStatus(
          id: 5 + $0, description: "thumbnail", source: Path("\($0).jpg"), state: .waiting, waitedSeconds: 0,
          ranSeconds: 0)
      }
    recent.add(1, isDone: true) {
      OperationStatus(
        id: 1, description: "thumbnail a.jpg", source: "a.jpg", state: .finished, waitedSeconds: 1, ranSeconds: 1)
    }
    recent.add(2, isDone: false) {
      OperationStatus(
        id: 2, description: "thumbnail b.jpg", source: "b.jpg", state: .failed, waitedSeconds: 1, ranSeconds: 1,
        reason: "cut off")
    }
  }

  /// Those that the endpoint knows, and one that only the run knows.
  let counters =
    ["made", "up_to_date", "passed_over", "failed", "cancelled"].map { RunCounter($0, "Sources.", metric: .outcome) }
    + ["found", "requeued", "thumbnails", "bytes_written", "bytes_read"].map {
      RunCounter($0, "How many.", metric: .total($0))
    } + [RunCounter("mended", "Sources that were \"mended\".", metric: .total("sources_mended"))]

  func status(listing limit: Int) -> RunStatus {
    statusCalls.change { $0 += 1 }
    var counters = RunCounters(["found": 9, "mended": 7], total: 10)
    (counters.made, counters.failed, counters.running, counters.waiting) = (1, 1, 1, live.count - 1)
    (counters.waitingForDependencies, counters.cancelledForDependencies) = (1, 2)
    return RunStatus(
      version: "1.2.3", pid: 42, sources: ["photos"], outputs: ["thumbs"], startedAt: 1000, elapsedSeconds: 5,
      state: state.value, pausedBy: PauseCause.allCases, waitsFor: ["process 1"], stopReason: "told to",
      outcome: Self.outcome,
      counters: counters, limits: RunLimits(max: 2, backlog: 8, budgetBytes: 1 << 30),
      memory: MemoryStatus(
        reservedBytes: 1 << 20, peakReservedBytes: 2 << 20, budgetBytes: 1 << 30, residentBytes: 3 << 20,
        limitBytes: 4 << 30),
      pressure: PressureStatus(level: .warning, source: "psi", cause: "stalls", warnings: 2, criticals: 1),
      rates: RunRates(sourcesPerSecond: 0.5, thumbnailsPerSecond: 1.5, bytesPerSecond: 1000),
      watch: WatchStatus(
        folders: 3, polledFolders: 1, changes: 12, waitingChanges: 2, walks: 1, removed: 4, lastChangeAt: 1_700_000_000),
      fetches: FetchStatus(fetched: 5, unchanged: 6, failed: 7, bytes: 80_000, running: 2, waiting: 3),
      etaSeconds: 17,
      running: Array(live.filter { $0.state == .running }.prefix(limit)),
      waiting: Array(live.filter { $0.state == .waiting }.prefix(limit)))
  }

  func operations(_ query: OperationQuery) -> OperationPage {
    OperationPage(query, from: live + recent.operations(query))
  }

  func operation(_ id: Int) -> OperationStatus? { live.first { $0.id == id } ?? recent.operation(id) }

  func cancel(_ id: Int) -> CancelAnswer {
    commands.change { $0.append(.cancel(id)) }
    return switch operation(id)?.state {
    case nil: .isUnknown
    case .waiting: .wasWaiting
    case .running: .wasRunning
    case .finished, .failed, .cancelled: .hasEnded
    }
  }

  func cancelAll() -> CancelledCount {
    commands.change { $0.append(.cancelAll) }
    return CancelledCount(waiting: live.count - 1, running: 1)
  }

  func pause() { commands.change { $0.append(.pause) } }

  func resume() { commands.change { $0.append(.resume) } }

  func change(_ limits: LimitsChange) throws(LimitsError) -> RunLimits {
    if limits.max == 13 { throw LimitsError("thirteen is unlucky") }
    commands.change { $0.append(.change(limits)) }
    return RunLimits(max: limits.max ?? 2, backlog: limits.backlog ?? 8, budgetBytes: limits.budgetBytes ?? 1 << 30)
  }
}
