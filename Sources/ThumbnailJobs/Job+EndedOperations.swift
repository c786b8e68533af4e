import BoundedQueue

// Ending: reports the result of an operation that has ended, or requeues its source.
extension Job {
  /// How often memory pressure may cancel the work on one source. After the last time the source is left for another
  /// run.
  private static let maximumCancellations = 3

  func ended(_ operation: ThumbnailOperation, _ outcome: Outcome) {
    if outcome.cancelReason == .pressure, requeue(operation) { return }
    let found = operation.found
    let result: SourceResult =
      switch outcome {
      case .succeeded: found.result ?? .notImage
      case .failed(let error): failed(SourceFailure(error, plan: memory))
      case .cancelledWhileRunning(.timeout), .cancelledWhileWaiting(.timeout): .failed(.timeout(settings.timeout))
      case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason): .cancelled(reason)
      }
    report(
      SourceReport(
        source: operation.source, result: result, thumbnails: found.thumbnails, warnings: found.warnings,
        bytes: found.bytes, operation: operation.snapshot()))
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

  /// Requeues the source of an operation that memory pressure has cancelled.
  ///
  /// - Returns: false if the source is left for another run.
  private func requeue(_ operation: ThumbnailOperation) -> Bool {
    // An operation that held no memory did not cause the pressure.
    let found = operation.found
    let times = operation.timesCancelled + (found.hasHeldMemory ? 1 : 0)
    return state.withLock { state in
      guard state.stopCause == nil, settings.onPressure == .requeue, times < Self.maximumCancellations else {
        return false
      }
      state.requeued.append(
        Requeued(
          source: operation.source, place: operation.place, timesCancelled: times, thumbnails: found.thumbnails))
      state.tally.requeued += 1
      return true
    }
  }

  func report(_ report: SourceReport) {
    let tally = state.withLock { state in
      state.tally.count(report)
      return state.tally
    }
    onEvent(.source(report))
    if case .failed = report.result, settings.halt?.isReached(failed: tally.failed, ended: tally.ended) == true {
      stop(.tooManyFailures)
    }
  }

  func report(_ error: WalkError) {
    state.withLock { $0.tally.count(error) }
    onEvent(.walkError(error))
  }
}
