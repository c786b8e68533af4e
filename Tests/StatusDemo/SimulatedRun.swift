import Files
import Foundation
import Locking
import StatusEndpoint
import TestSupport

/// A run that does no work, but shows every state: operations wait, run, fail, and are cancelled; memory becomes tight
/// and free again. Every eighth operation is a page of a contact sheet, which waits for the seven before it. The run ends
/// when all its sources are done, or when it is cancelled.
///
/// *Concurrency*: the lock guards all state.
final class SimulatedRun: RunDataSource, RunControl {
  private struct State {
    var waiting: [OperationStatus] = []
    var running: [OperationStatus] = []
    var counters: RunCounters
    var limits = RunLimits(max: 4, backlog: 12, budgetBytes: 512 << 20)
    var peak = 0
    var steps = 0
    var isPaused = false
    var isEnding = false
    var outcome: RunOutcome?
    var level = PressureStatus.Level.normal
    var warnings = 0

    var reserved: Int { running.reduce(0) { $0 + $1.reservedBytes } }
  }

  let feed = EventFeed()
  let thumbnails = LatestThumbnails()
  let times = RunTimes()
  private let recent = RecentOperations()
  private let startedAt = Date()
  private let state: Locked<State>
  private static let names = [
    "2024/coast/lighthouse at dusk.jpg", "2024/coast/<img src=x onerror=alert(1)>.jpg", "2025/hills/ridge.jpg",
    "2025/a very long folder name that goes on and on/and a file name that is long too, as those of scans are.jpg",
    "2025/phone/IMG_2041.jpg", "scans/Brief an Großmutter.jpg", "2023/東京/朝の市場.jpg",
  ]

  init(sources: Int) { state = Locked(State(counters: RunCounters(total: sources))) }

  var hasEnded: Bool { state.withLock { $0.outcome != nil } }

  let counters = [
    RunCounter("found", "Sources found so far.", metric: .total("sources_found")),
    RunCounter("made", "Sources whose thumbnails were made.", metric: .outcome),
    RunCounter("failed", "Sources that failed.", metric: .outcome),
    RunCounter("cancelled", "Sources that were cancelled.", metric: .outcome),
    RunCounter("thumbnails", "Thumbnails written.", metric: .total("thumbnails")),
  ]

  // MARK: Simulation

  /// Advances the run by a tenth of a second.
  func step() {
    let changes = state.withLock { state -> [StateChange] in
      state.steps += 1
      var changes: [StateChange] = []
      advance(&state, &changes)
      end(&state, &changes)
      if state.steps % 300 == 150 || state.steps % 300 == 180 {
        state.level = state.level == .normal ? .warning : .normal
        state.warnings += state.level == .warning ? 1 : 0
        changes.append(.pressure(pressure(state)))
      }
      finish(&state)
      return changes
    }
    for change in changes { feed.post(change) }
  }

  /// Submits and starts operations, and advances those that wait or run.
  private func advance(_ state: inout State, _ changes: inout [StateChange]) {
    let total = state.isEnding ? 0 : state.counters.total ?? 0
    while state.counters.found < total, state.waiting.count < min(state.limits.backlog, 1000), state.steps > 5 {
      state.counters.found += 1
      let (id, name) = (state.counters.found, Self.names[state.counters.found % Self.names.count])
      let isPage = id % 8 == 0
      state.waiting.append(
        OperationStatus(
          id: id, description: isPage ? "contact sheet sheet.pdf, page \(id / 8)" : "thumbnail \(name)",
          source: isPage ? nil : Path(name), state: .waiting, waitedSeconds: 0, ranSeconds: 0,
          waitReason: "waits for a place", waitsFor: isPage ? Array(id - 7..<id) : [], neededBy: isPage ? 0 : 1))
    }
    let unfinished = Set((state.running + state.waiting).map(\.id))
    for index in state.waiting.indices {
      guard let left = state.waiting[index].waitsFor?.filter({ unfinished.contains($0) }) else { continue }
      state.waiting[index].waitsFor = left.isEmpty ? nil : left
      state.waiting[index].waitsForCount = left.isEmpty ? nil : left.count
    }
    state.counters.waitingForDependencies = state.waiting.count { $0.waitsFor != nil }
    for index in state.waiting.indices {
      state.waiting[index].waitedSeconds += 0.1
      state.waiting[index].ageSeconds += 0.1
    }
    while !state.isPaused, state.level == .normal, state.running.count < state.limits.max,
      let first = state.waiting.firstIndex(where: { $0.waitsFor == nil })
    {
      var next = state.waiting.remove(at: first)
      (next.state, next.stage, next.fraction, next.waitReason) = (.running, "reading", 0, nil)
      next.reservedBytes = (20 + next.id * 37 % 110) << 20
      state.running.append(next)
      changes.append(.operation(next))
    }
    for index in state.running.indices {
      let pace = 0.02 + Double(state.running[index].id % 5) * 0.012
      state.running[index].ranSeconds += 0.1
      state.running[index].ageSeconds += 0.1
      state.running[index].fraction = min(1, (state.running[index].fraction ?? 0) + pace)
      let fraction = state.running[index].fraction ?? 0
      state.running[index].stage = fraction < 0.7 ? "decoding" : fraction < 0.9 ? "resampling" : "encoding"
      state.running[index].waitReason = state.running[index].id % 11 == 3 && fraction < 0.2 ? "waits for memory" : nil
    }
    state.peak = max(state.peak, state.reserved)
  }

  /// Ends the running operations that are complete or cancelled.
  private func end(_ state: inout State, _ changes: inout [StateChange]) {
    for var done in state.running where done.fraction ?? 0 >= 1 || done.reason != nil {
      state.running.removeAll { $0.id == done.id }
      if done.reason != nil {
        done.state = .cancelled
        state.counters.cancelled += 1
      } else if done.id % 13 == 5 {
        done.state = .failed
        done.reason = "truncated: it is cut off after \(done.id * 811) bytes"
        state.counters.failed += 1
      } else {
        done.state = .finished
        state.counters.made += 1
        state.counters.thumbnails += 1
        state.counters.bytesWritten += 14_000
        state.counters.bytesRead += 4_100_000
        let sides = [(192, 128), (128, 192), (160, 160)][done.id % 3]
        if let source = done.source?.path {
          SyntheticPhoto(seed: done.id, width: sides.0, height: sides.1).jpeg().withUnsafeBytes {
            thumbnails.insert($0, operation: done.id, source: source, width: sides.0, height: sides.1)
          }
        }
      }
      times.waitingForPlace.record(.seconds(done.waitedSeconds))
      times.working.record(.seconds(done.ranSeconds))
      recent.add(done.id, isDone: done.state == .finished) { [done] in done }
      changes.append(.operation(done))
    }
  }

  private func finish(_ state: inout State) {
    let counters = state.counters
    guard state.running.isEmpty, state.isEnding || counters.ended == counters.total else { return }
    let counts = "\(counters.made) made, \(counters.failed) failed"
    state.outcome =
      if state.isEnding {
        RunOutcome(.stopped, cause: .user, text: "stopped by a user: \(counts)", exitStatus: 75)
      } else {
        RunOutcome(counters.failed == 0 ? .complete : .failed, text: counts, exitStatus: counters.failed == 0 ? 0 : 1)
      }
  }

  // MARK: RunDataSource

  func status(listing limit: Int) -> RunStatus {
    let state = state.withLock { $0 }
    var counters = state.counters
    (counters.waiting, counters.running, counters.peakRunning) = (state.waiting.count, state.running.count, 4)
    let elapsed = -startedAt.timeIntervalSinceNow
    return RunStatus(
      version: "0.3.0", pid: Int(getpid()), sources: ["./images"], outputs: ["./thumbs"],
      startedAt: startedAt.timeIntervalSince1970, elapsedSeconds: elapsed, state: runState(state),
      pausedBy: pauses(state), outcome: state.outcome, counters: counters, limits: state.limits,
      memory: MemoryStatus(
        reservedBytes: state.reserved, peakReservedBytes: state.peak, budgetBytes: state.limits.budgetBytes,
        residentBytes: state.reserved * 8 / 10 + (40 << 20), limitBytes: 2 << 30),
      pressure: pressure(state),
      rates: RunRates(
        sourcesPerSecond: Double(counters.ended) / elapsed, thumbnailsPerSecond: Double(counters.made) / elapsed,
        bytesPerSecond: Double(counters.bytesRead) / elapsed),
      etaSeconds: runState(state) == .running ? 1234 : nil, running: Array(state.running.prefix(limit)),
      waiting: Array(state.waiting.prefix(limit)))
  }

  private func runState(_ state: State) -> RunState {
    if state.outcome != nil { return .finished }
    return state.isEnding ? .stopping : pauses(state) != nil ? .paused : .running
  }

  private func pauses(_ state: State) -> [PauseCause]? {
    let causes: [PauseCause] = (state.isPaused ? [.user] : []) + (state.level == .normal ? [] : [.pressure])
    return causes.isEmpty ? nil : causes
  }

  private func pressure(_ state: State) -> PressureStatus {
    PressureStatus(
      level: state.level, source: "psi", cause: state.warnings > 0 ? "tasks stall 12 % of the time" : nil,
      warnings: state.warnings)
  }

  func operations(_ query: OperationQuery) -> OperationPage {
    let (waiting, running) = state.withLock { ($0.waiting, $0.running) }
    return OperationPage(query, from: running + waiting + recent.operations(query))
  }

  func operation(_ id: Int) -> OperationStatus? {
    let live = state.withLock { state in (state.running + state.waiting).first { $0.id == id } }
    return live ?? recent.operation(id)
  }

  // MARK: RunControl

  func cancel(_ id: Int) -> CancelAnswer {
    state.withLock { state in
      if let index = state.running.firstIndex(where: { $0.id == id }) {
        state.running[index].reason = "cancelled by the user"
        return .wasRunning
      }
      if let index = state.waiting.firstIndex(where: { $0.id == id }) {
        var operation = state.waiting.remove(at: index)
        (operation.state, operation.reason) = (.cancelled, "cancelled by the user")
        state.counters.cancelled += 1
        recent.add(operation.id, isDone: false) { [operation] in operation }
        return .wasWaiting
      }
      return recent.operation(id) == nil ? .isUnknown : .hasEnded
    }
  }

  func cancelAll() -> CancelledCount {
    let (waiting, running) = state.withLock { state in
      state.isEnding = true
      return (state.waiting.map(\.id), state.running.map(\.id))
    }
    for id in waiting + running { _ = cancel(id) }
    return CancelledCount(waiting: waiting.count, running: running.count)
  }

  func pause() { state.withLock { $0.isPaused = true } }

  func resume() { state.withLock { $0.isPaused = false } }

  func change(_ limits: LimitsChange) throws(LimitsError) -> RunLimits {
    state.withLock { state in
      state.limits.max = limits.max ?? state.limits.max
      state.limits.backlog = limits.backlog ?? state.limits.backlog
      state.limits.budgetBytes = limits.budgetBytes ?? state.limits.budgetBytes
      return state.limits
    }
  }
}
