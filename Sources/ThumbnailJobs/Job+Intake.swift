import BoundedQueue
import Files
import TraceRecording

// Intake: from the walk over the sources to their operations on the queue.
extension Job {
  /// Walks the sources and submits their operations.
  ///
  /// - Returns: the counters of the walk, and whether it has reached every source.
  func walkSources() -> (WalkCounters, isComplete: Bool) {
    let plan = OutputPlan(walker: walker)
    var isComplete = true
    // The walk calls this before every entry, and several times a second while it waits for an entry of a list.
    let shouldStop = {
      self.resubmit()
      guard self.isStopping else { return false }
      isComplete = false  // the walk asks only while there may be more entries
      return true
    }
    let walk = walker.walk(shouldStop: shouldStop, onError: report) { source in
      if trace.span("Job.add", { add(source, plan) }) { return .goOn }
      isComplete = false
      return .stop
    }
    if isComplete { state.withLock { $0.total = $0.tally.found } }
    return (walk, isComplete)
  }

  /// Submits an operation for a source that needs one.
  ///
  /// - Returns: false if the job is stopping.
  private func add(_ source: Source, _ plan: OutputPlan) -> Bool {
    state.withLock { $0.tally.found += 1 }
    let place: Path
    switch trace.span("OutputPlan.placement", { plan.placement(of: source) }) {
    case .place(let found): place = found
    case .taken(let rival):
      report(SourceReport(source: source, result: .failed(.placeTaken(by: rival))))
      return true
    case .duplicate(let rival):
      report(SourceReport(source: source, result: .duplicate(of: rival)))
      return true
    case .reserved:
      report(SourceReport(source: source, result: .failed(.placeReserved)))
      return true
    }
    switch trace.span("Job.thumbnailState", { thumbnailState(of: source, at: place) }) {
    case .upToDate where !settings.force:
      state.withLock { $0.tally.upToDate += 1 }
      return true
    case .isSource:
      report(SourceReport(source: source, result: .failed(.placeIsSource)))
      return true
    case .upToDate, .missing, .stale: break
    }
    return submit(ThumbnailOperation(source: source, place: place, shared: shared))
  }

  /// Submits an operation as soon as the backlog has room.
  ///
  /// - Returns: false if the job is stopping.
  private func submit(_ operation: ThumbnailOperation) -> Bool {
    while true {
      do {
        try trace.span("BoundedOperationQueue.submit") { () throws(SubmitError) in try queue.submit(operation) }
        return true
      } catch {
        // Memory pressure also cancels a submission that waits for room. The queue stays open, so submit again.
        if error == .cancelled(.pressure), !isStopping { continue }
        report(SourceReport(source: operation.source, result: .cancelled(stopReason)))
        return false
      }
    }
  }

  /// Submits new operations for the sources that memory pressure has cancelled.
  func resubmit() {
    let requeued = state.withLock { state in
      defer { state.requeued = [] }
      return state.requeued
    }
    for item in requeued {
      _ = submit(
        ThumbnailOperation(
          source: item.source, place: item.place, timesCancelled: item.timesCancelled, thumbnails: item.thumbnails,
          shared: shared))
    }
  }

  /// The state of all thumbnails of a source together. It is `missing` if the status of the source cannot be read: its
  /// operation then fails with the exact error.
  private func thumbnailState(of source: Source, at place: Path) -> SettingsStamp.State {
    guard case .success(let status) = FileStatus.of(source.path, followingLinks: true) else { return .missing }
    var isUpToDate = true
    for output in outputs {
      switch output.state(of: place, source: status) {
      case .isSource: return .isSource
      case .upToDate: break
      case .missing, .stale: isUpToDate = false
      }
    }
    return isUpToDate ? .upToDate : .stale
  }
}
