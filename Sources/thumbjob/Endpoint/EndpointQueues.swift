import BoundedQueue
import Locking
import StatusEndpoint
import TraceRecording

/// The queues whose operations a status endpoint shows and steers: those of a job, or of a server.
///
/// *Concurrency*: every member may be called from any thread. Commands run on a thread of their own, because they may block: they
/// call observers, which may wait for a reader of the output.
final class EndpointQueues: Sendable {
  let feed = EventFeed()
  let times = RunTimes()
  private let queues: [BoundedOperationQueue]
  private let trace: TraceRecorder?
  private let recent = RecentOperations()
  private let steering = SerialThread(name: "steering")

  /// - Parameters:
  ///   - timed: the queue whose operations' times count. Others, such as fetches, take other times.
  init(_ queues: [BoundedOperationQueue], timed: BoundedOperationQueue, trace: TraceRecorder? = nil) {
    (self.queues, self.trace) = (queues, trace)
    for queue in queues {
      let isTimed = queue === timed
      queue.observe { [weak self] event in
        trace.span("EndpointQueues.handle") { self?.handle(event, isTimed: isTimed) }
      }
    }
  }

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

  // MARK: Snapshots

  func operations(_ query: OperationQuery) -> OperationPage {
    // One more than a page has, to see whether another page follows.
    let limit = query.states.contains(.waiting) ? query.limit + 1 : 0
    let snapshots = trace.span("BoundedOperationQueue.snapshot") {
      queues.map { $0.snapshot(waitingLimit: limit, waitingAfter: query.after) }
    }
    let waiting = snapshots.flatMap(\.waiting).sorted { $0.id < $1.id }.prefix(limit)
    let live = (snapshots.flatMap(\.running) + waiting).map { OperationStatus($0) }
    return OperationPage(query, from: live + recent.operations(query))
  }

  func operation(_ id: Int) -> OperationStatus? {
    queues.lazy.compactMap { $0.snapshot(of: id) }.first.map { OperationStatus($0) } ?? recent.operation(id)
  }

  // MARK: Commands

  func cancel(_ id: Int) async -> CancelAnswer {
    await steer { [self] in
      let state = queues.lazy.compactMap { $0.snapshot(of: id) }.first?.state
      if queues.contains(where: { $0.cancel(id: id, reason: .user) }) {
        if case .running = state { return .wasRunning }
        return .wasWaiting
      }
      return recent.operation(id) == nil ? .isUnknown : .hasEnded
    }
  }

  /// Changes the limits of a queue.
  ///
  /// - Parameter change: returns the new limits.
  /// - Throws: `LimitsError` if the process has too few threads or files for them.
  func change(
    _ limits: LimitsChange, of queue: BoundedOperationQueue, _ change: @escaping @Sendable () -> QueueLimits
  ) async throws(LimitsError) -> RunLimits {
    let changed: Result<RunLimits, LimitsError> = await steer { [feed] in
      if let max = limits.max, max > queue.limits.maxConcurrentOperations,
        let problem = ProcessLimits.problem(max: max)
      {
        return .failure(LimitsError("max: the process \(problem)"))
      }
      let changed = RunLimits(change())
      feed.post(.limits(changed))
      return .success(changed)
    }
    return try changed.get()
  }

  /// Waits until `body` has run on the thread of commands.
  func steer<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
    await withCheckedContinuation { continuation in
      steering.async { continuation.resume(returning: body()) }
    }
  }
}
