import BoundedQueue
import Files
import Foundation
import MemoryPressure
import Places
import Sourcing

// Steering: how other threads read the state of a job, and change its course while it runs.
extension Job {
  /// - Parameter waitingLimit: the most waiting operations to list.
  package func status(waitingLimit: Int) -> JobStatus {
    let (tally, startedAt, total, stopCause, held) = engine.state.withLock {
      ($0.tally, $0.startedAt, $0.total, $0.stopCause, $0.held.count)
    }
    var status = JobStatus(
      tally: tally, queue: queue.snapshot(waitingLimit: waitingLimit),
      elapsed: startedAt.map { .now - $0 } ?? .zero, total: total, stopCause: stopCause)
    status.held = held
    for capability in engine.capabilities { capability.tell(&status, waitingLimit: waitingLimit) }
    return status
  }

  /// Counts all sources on another thread, ahead of the work, so that ``JobStatus/total`` is known early. If a list of
  /// sources can be read only once, the total stays unknown until the walk is over. Further calls do nothing.
  package func countAhead() {
    // A watch has no total.
    guard settings.watch == nil, !isCounted.exchange(true, ordering: .relaxed) else { return }
    Thread.detachNewThread { [engine] in
      var walker = engine.walker
      guard walker.canBeWalkedTwice else { return }
      // A list may name parts of buckets, which only listing would count.
      let buckets = UnlistedBuckets()
      walker.lister = buckets
      let counters = walker.walk(shouldStop: { engine.isStopping }, onError: { _ in }, visit: { _ in .goOn })
      if !engine.isStopping, !buckets.wereAsked { engine.state.withLock { $0.total = counters.files } }
    }
  }

  /// The queue of the thumbnails, and those of the fetches and of the reads ahead.
  package var queues: [BoundedOperationQueue] { engine.queues }

  /// Starts nothing new until ``resume()``. Running operations go on.
  package func pause() { engine.pause() }

  /// Ends a ``pause()``. The job goes on, unless it is also paused because of memory pressure.
  package func resume() { engine.resume() }

  /// Changes the given limits while the job runs.
  ///
  /// - Parameter budget: bytes that running operations may reserve together. An operation that has the only reservation
  ///   may still reserve as much as before.
  /// - Returns: the new limits.
  package func changeLimits(max: Int?, backlog: Int?, budget: Int?) -> QueueLimits {
    engine.changeLimits(max: max) {
      $0.change(max: max, backlog: backlog, budget: budget.map(memory.budget(of:)))
    }
  }

  /// Ends the job. Nothing new starts; the cause determines whether running operations are cancelled or may finish. A
  /// later cause replaces an earlier one only if it ends more operations, or the process.
  ///
  /// - Returns: the cancelled operations.
  @discardableResult
  package func stop(_ cause: StopCause) -> CancelledOperations { engine.stop(cause) }

  /// Whether the job ends before all its sources are done.
  package var isStopping: Bool { engine.isStopping }

  /// Whether a job that watches its folders follows their changes, or waits for operations that run or are paused. False
  /// also for a job that does not watch.
  package var isFollowing: Bool { engine.capabilities.contains { $0.isFollowing(on: queue) } }

  private var remover: (any ResultRemover)? { engine.capabilities.first(of: (any ResultRemover).self) }

  /// What may be removed after this run. Each source folder is judged by itself.
  package func prunePlan(after report: JobReport) -> PrunePlan {
    remover?.plan(after: report.tally, workRemains: report.workRemains) ?? PrunePlan(folders: [], refusals: [])
  }

  /// The thumbnails of sources that are gone, after a run over whole folders that removes none; nil if there are none, or if
  /// it is not known. Call it after ``run()``.
  package func gone(after report: JobReport) -> GoneResults? {
    isStopping ? nil : remover?.gone(after: report.tally, workRemains: report.workRemains)
  }

  /// Removes the thumbnails of sources that are gone, and those of earlier runs with other sizes. Call it after ``run()``.
  ///
  /// - Parameters:
  ///   - isDryRun: whether only to tell what would be removed.
  ///   - onThumbnail: receives the path of each thumbnail, and its bytes.
  ///   - onError: receives each error; the others are removed all the same.
  /// - Returns: the counts so far if the job is stopped meanwhile.
  package func prune(
    _ plan: PrunePlan, isDryRun: Bool, onThumbnail: @escaping @Sendable (Path, _ bytes: Int) -> Void,
    onError: @escaping @Sendable (OutputError) -> Void
  ) -> PruneCounts {
    remover?.prune(plan, isDryRun: isDryRun, onThumbnail: onThumbnail, onError: onError) ?? PruneCounts()
  }

  /// Removes the unfinished files of this job. Nothing can be put in place afterwards. It does not wait for
  /// threads that write, so that a thread that is about to end the process can call it.
  package func closeOutputs() {
    for output in outputs { output.folder?.close() }
    work?.remove()
  }
}
