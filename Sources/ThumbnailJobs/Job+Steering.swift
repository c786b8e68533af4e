import BoundedQueue
import Foundation
import MemoryPressure

// Steering: how other threads read the state of a job, and change its course while it runs.
extension Job {
  /// The state of a job at one moment.
  public struct Status: Sendable {
    public let tally: JobTally
    public let queue: QueueSnapshot
    /// The queue of the fetches from the network; nil if the job has none.
    public let fetches: QueueSnapshot?
    /// What was fetched so far; nil if the job has no sources from the network.
    public let fetched: FetchCounters?
    /// The page of a bucket that the walk waits for; nil if it waits for none.
    public let listing: String?
    public let elapsed: Duration
    /// The number of all sources; nil until it is known.
    public let total: Int?
    public let stopCause: StopCause?
    /// Nil before the job runs.
    public let pressure: PressureSnapshot?
    /// Nil if the job does not watch its folders.
    public let watch: WatchCounters?
  }

  /// - Parameter waitingLimit: the most waiting operations to list.
  public func status(waitingLimit: Int) -> Status {
    let copy = state.withLock { $0 }
    return Status(
      tally: copy.tally, queue: queue.snapshot(waitingLimit: waitingLimit),
      fetches: settings.mayFetch ? network.queue.snapshot(waitingLimit: waitingLimit) : nil,
      fetched: settings.mayFetch ? network.counters : nil, listing: network.listing,
      elapsed: copy.startedAt.map { .now - $0 } ?? .zero, total: copy.total, stopCause: copy.stopCause,
      pressure: copy.monitor?.snapshot, watch: watch?.counters)
  }

  /// Counts all sources on another thread, ahead of the work, so that ``Status/total`` is known early. If a list of
  /// sources can be read only once, the total stays unknown until the walk is over. Further calls do nothing.
  public func countAhead() {
    // A watch has no total.
    guard watch == nil, !isCounted.exchange(true, ordering: .relaxed) else { return }
    Thread.detachNewThread { [self] in
      guard walker.canBeWalkedTwice else { return }
      var walker = walker
      // A list may name parts of buckets, which only listing would count.
      let buckets = UnlistedBuckets()
      walker.lister = buckets
      let counters = walker.walk(shouldStop: { isStopping }, onError: { _ in }, visit: { _ in .goOn })
      if !isStopping, !buckets.wereAsked { state.withLock { $0.total = counters.files } }
    }
  }

  /// The queue of the thumbnails, and that of the fetches if there may be any.
  public var queues: [BoundedOperationQueue] { settings.mayFetch ? [queue, network.queue] : [queue] }

  /// Starts nothing new until ``resume()``. Running operations go on.
  public func pause() {
    queue.pause(.user)
    network.queue.pause(.user)
  }

  /// Ends a ``pause()``. The job goes on, unless it is also paused because of memory pressure.
  public func resume() {
    network.queue.resume(.user)
    queue.resume(.user)
  }

  /// Changes the given limits while the job runs.
  ///
  /// - Parameter budget: bytes that running operations may reserve together. An operation that has the only reservation
  ///   may still reserve as much as before.
  /// - Returns: the new limits.
  public func changeLimits(max: Int?, backlog: Int?, budget: Int?) -> QueueLimits {
    // The governor must know the new maximum first: otherwise it could widen the queue back to the old one.
    if let max { state.withLock { $0.governor }?.setFullMax(max) }
    queue.changeLimits { limits in
      if let max { limits.max = max }
      if let backlog { limits.backlog = backlog }
      if let budget { limits.budget = MemoryBudget(bytes: budget, largest: Swift.max(budget, memory.budget.largest)) }
    }
    let limits = queue.limits
    network.changeMostSources(to: limits.backlog + limits.max)
    return limits
  }

  /// Ends the job. Nothing new starts; the cause determines whether running operations are cancelled or may finish. A
  /// later cause replaces an earlier one only if it ends more operations, or the process.
  ///
  /// - Returns: the cancelled operations.
  @discardableResult
  public func stop(_ cause: StopCause) -> CancelledOperations {
    let isChange = state.withLock { state in
      if let first = state.stopCause, !cause.overrides(first) { return false }
      state.stopCause = cause
      return true
    }
    let cancelled = queue.stop(reason: cause.reason, sparingRunning: cause.sparesRunning)
    // Afterwards, because an operation tells why its source was not fetched unless it is cancelled itself.
    network.queue.stop(reason: cause.reason, sparingRunning: false)
    watch?.endWaiting()
    if isChange { onEvent(.stopping(cause)) }
    return cancelled
  }

  /// Removes the unfinished files of this job. Nothing can be put in place afterwards. It does not wait for
  /// threads that write, so that a thread that is about to end the process can call it.
  public func closeOutputs() {
    for output in outputs { output.folder?.close() }
    work?.remove()
  }

  /// Whether the job ends before all its sources are done.
  public var isStopping: Bool { state.withLock { $0.stopCause != nil } }

  var stopReason: CancelReason { state.withLock { $0.stopCause }?.reason ?? .shutdown }
}
