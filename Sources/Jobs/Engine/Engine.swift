import BoundedQueue
import Files
import JobSettings
import Locking
import PictureMaking
import Sourcing
import TraceRecording

/// Walks sources, runs operations for each of them on a bounded queue, and counts what becomes of them.
///
/// The walk submits one operation for each source and blocks while the backlog is full, so a million sources need no more
/// memory than a thousand. What the operations make is the matter of a ``JobKind``; everything else that a job can do is a
/// ``JobCapability``, of which the engine knows none by name.
///
/// *Concurrency*: call ``run()`` once, on a thread that may block. Everything else may be called from any thread.
final class Engine: Sendable {
  /// What the engine itself has to know of a job's settings.
  struct Rules: Sendable {
    /// How long an operation on a source may run.
    let timeout: Duration
    /// How long the job may run; nil means no limit.
    let runFor: Duration?
    /// After how many failures it stops; nil means never.
    let halt: HaltLimit?
    /// Whether what memory pressure cancels is done again.
    let requeues: Bool
    /// Whether results are made although they are up to date.
    let isForced: Bool
    /// Whether the results have a place. Without one, the first source ends the walk.
    let hasOutput: Bool
  }

  /// Receives what the engine has to tell, on any thread, several at once.
  struct Listener: Sendable {
    let report: @Sendable (SourceReport) -> Void
    let walkError: @Sendable (WalkError) -> Void
    let postponed: @Sendable (Source) -> Void
    let stopping: @Sendable (StopCause) -> Void
  }

  struct State {
    var tally = JobTally()
    var startedAt: ContinuousClock.Instant?
    var stopCause: StopCause?
    /// Whether an output can take no more results.
    var hasOutputFailed = false
    /// The number of all sources; nil until it is known.
    var total: Int?
    /// Sources whose last operation has ended and that need another one. At most as many as operations ran and waited
    /// at one time.
    var requeued: [SourceTask] = []
    /// Sources that are started in the order of their numbers.
    var held = Elevator<SourceTask>()
    /// Sources that are tried last, one at a time.
    var postponed: [SourceTask] = []
  }

  let queue: BoundedOperationQueue
  let walker: SourceWalker
  let trace: TraceRecorder?
  let kind: any JobKind
  let capabilities: [any JobCapability]
  let rules: Rules
  let listener: Listener
  /// Whether a capability has to know of each source what its results tell of it.
  private let describes: Bool
  /// Guards everything that changes while the job runs.
  let state = Locked(State())

  init(
    _ kind: any JobKind, _ capabilities: [any JobCapability], on queue: BoundedOperationQueue, _ walker: SourceWalker,
    _ rules: Rules, trace: TraceRecorder?, _ listener: Listener
  ) {
    (self.kind, self.capabilities, self.queue, self.walker) = (kind, capabilities, queue, walker)
    (self.rules, self.trace, self.listener) = (rules, trace, listener)
    describes = capabilities.contains(where: \.describesSources)
    queue.observe { [weak self] event in
      guard case .ended(let outcome) = event.change else { return }
      self?.trace.span("Job.ended") { self?.ended(event.operation, outcome) }
    }
  }

  /// Walks the sources and runs their operations. Returns when every operation has ended.
  ///
  /// - Throws: what a capability throws that cannot start. No source was read then.
  func run() throws -> SourceWalk {
    for (index, capability) in capabilities.enumerated() {
      do { try capability.start(self) } catch {
        for started in capabilities[..<index].reversed() { started.finish(self, nil) }
        throw error
      }
    }
    state.withLock { $0.startedAt = .now }
    let watchdog = Watchdog(queue: queue, timeout: rules.timeout, total: rules.runFor) { self.stop(.timeIsUp) }
    watchdog.begin()
    let ticker = Ticker(name: "job", every: .seconds(1), startsAtOnce: true) { self.tick() }
    let walk = walk()
    drain()
    tryPostponed()
    for capability in capabilities { capability.complete(self) }
    queue.close()
    watchdog.end()
    ticker.stop()
    for capability in capabilities.reversed() { capability.finish(self, walk) }
    return walk
  }

  private func walk() -> SourceWalk {
    for capability in capabilities { if let walk = capability.walk(self) { return walk } }
    return walkSources()
  }

  /// Tells that a source is gone.
  func vanished(_ source: Source, andBelow below: Bool) {
    for capability in capabilities { capability.vanished(source, andBelow: below) }
  }

  /// Tells that there is nothing to do, now that all sources of now are done.
  func rest() { for capability in capabilities { capability.rested(self) } }

  private func tick() { for capability in capabilities { capability.tick() } }

  /// Tries the postponed sources one at a time, after everything else: if the process dies, it is known which of them was
  /// under way.
  func tryPostponed() {
    let postponed = state.withLock { state in
      defer { state.postponed = [] }
      return state.postponed
    }
    for task in postponed {
      drain()
      tick()
      if !submit(operation(for: task)) { for capability in capabilities { capability.left(task.source) } }
    }
    if !postponed.isEmpty { drain() }
  }

  /// Waits for all operations, including the new ones for those that memory pressure has cancelled.
  private func drain() {
    repeat {
      resubmit()
      startAllHeld()
      queue.drainBlocking()
    } while state.withLock { !$0.requeued.isEmpty }
  }

  // MARK: Steering

  /// The queues of the job: its own, and those of its capabilities.
  var queues: [BoundedOperationQueue] { [queue] + capabilities.flatMap(\.queues) }

  /// Starts nothing new until ``resume()``. Running operations go on.
  func pause() { for queue in queues { queue.pause(.user) } }

  /// Ends a ``pause()``.
  func resume() { for queue in queues.reversed() { queue.resume(.user) } }

  /// Changes limits of the queue.
  ///
  /// - Parameter max: what the greatest number of operations will be; nil if it stays.
  func changeLimits(max: Int?, _ change: (inout QueueLimits) -> Void) -> QueueLimits {
    if let max { for capability in capabilities { capability.maxChanges(to: max) } }
    queue.changeLimits(change)
    let limits = queue.limits
    for capability in capabilities { capability.limitsChanged(limits) }
    return limits
  }

  /// Ends the job. Nothing new starts; the cause determines whether running operations are cancelled or may finish. A
  /// later cause replaces an earlier one only if it ends more operations, or the process.
  ///
  /// - Returns: the cancelled operations.
  @discardableResult
  func stop(_ cause: StopCause) -> CancelledOperations {
    let isChange = state.withLock { state in
      if let first = state.stopCause, !cause.overrides(first) { return false }
      state.stopCause = cause
      return true
    }
    let cancelled = queue.stop(reason: cause.reason, sparingRunning: cause.sparesRunning)
    for capability in capabilities { capability.stopping(cause) }
    if isChange { listener.stopping(cause) }
    return cancelled
  }

  /// Whether the job ends before all its sources are done.
  var isStopping: Bool { state.withLock { $0.stopCause != nil } }

  var stopReason: CancelReason { state.withLock { $0.stopCause }?.reason ?? .shutdown }

  // MARK: Operations that have ended

  private func ended(_ operation: BoundedOperation, _ outcome: Outcome) {
    // Others than those on sources report themselves.
    guard let operation = operation as? SourceOperation else { return }
    var ending = operation.ending(outcome)
    operation.prepareNext(after: ending)
    for capability in capabilities { capability.examine(operation, &ending, in: self) }
    switch next(operation, ending) {
    case .goOn: return
    case .upToDate:
      for capability in capabilities { capability.left(operation.source) }
      state.withLock { $0.tally.upToDate += 1 }
    case .end(let result): ended(operation, with: result)
    }
    operation.release()
  }

  /// What follows an operation. A further one is submitted with the next source.
  private func next(_ operation: SourceOperation, _ ending: SourceTask.Ending) -> SourceTask.Step {
    let task = operation.taskSoFar
    return state.withLock { state in
      let conditions = SourceTask.Conditions(
        stop: state.stopCause?.reason, requeues: rules.requeues, describes: describes, timeout: rules.timeout)
      let step = task.next(after: ending, in: conditions)
      if case .goOn(let next) = step {
        state.requeued.append(next)
        if case .cancelled(.pressure, _) = ending { state.tally.requeued += 1 }
      }
      return step
    }
  }

  private func ended(_ operation: SourceOperation, with result: SourceResult) {
    var result = result
    if case .failed(let failure) = result { result = failed(failure) }
    var end = SourceEnd(source: operation.source, result: result, findings: operation.findings, operation: operation)
    for capability in capabilities { capability.settle(&end) }
    report(end)
  }

  /// The result of a source that has failed. After the first failure of a whole output the job stops. The further
  /// sources that fail for this reason are only cancelled, so that one line reports it, not hundreds.
  private func failed(_ failure: SourceFailure) -> SourceResult {
    guard case .output(let error) = failure, error.endsJob else { return .failed(failure) }
    let isFirst = state.withLock { state in
      defer { state.hasOutputFailed = true }
      return !state.hasOutputFailed
    }
    if !isFirst { return .cancelled(StopCause.outputFailed(error).reason) }
    stop(.outputFailed(error))
    return .failed(failure)
  }

  // MARK: Reports

  /// Reports that the work on a source is done.
  func report(_ end: SourceEnd) {
    for capability in capabilities { capability.ended(end) }
    let report = end.report
    let tally = state.withLock { state in
      state.tally.count(report)
      return state.tally
    }
    listener.report(report)
    guard case .failed(let failure) = report.result, !failure.isEarlier else { return }
    if rules.halt?.isReached(failed: tally.failed - tally.failedEarlier, ended: tally.ended) == true {
      stop(.tooManyFailures)
    }
  }

  func report(_ error: WalkError) {
    state.withLock { $0.tally.count(error) }
    listener.walkError(error)
  }
}
