import BoundedQueue

// Ending: reports the result of an operation that has ended, or requeues its source.
extension Job {
  /// How often memory pressure may cancel the work on one source. After the last time the source is left for another
  /// run.
  private static let maximumCancellations = 3

  func ended(_ operation: BoundedOperation, _ outcome: Outcome) {
    switch operation {
    case let operation as SourceOperation:
      let thumbnail = operation as? ThumbnailOperation
      defer { if !operation.isRequeued { thumbnail?.releaseFetch() } }
      if outcome.cancelReason == .pressure {
        // What waits to be made again must hold no disk space, for which fetches may wait.
        thumbnail?.renewFetch(whole: false)
        if requeue(operation) { return }
      }
      if outcome.cancelReason == .postponed {
        // It waits for its time in the backlog, so that the sources of other hosts get its place.
        thumbnail?.renewFetch(whole: false)
        if follow(operation) { return }
        return ended(operation, .cancelledWhileRunning(stopReason))
      }
      if case .succeeded = outcome, let verifying = operation as? VerifyingOperation {
        if verified(verifying) { return upToDate(operation) }
        if follow(operation) { return }
      }
      if case .failed = outcome, thumbnail?.found.needsWhole == true {
        thumbnail?.renewFetch(whole: true)
        if follow(operation) { return }
        return ended(operation, .cancelledWhileRunning(stopReason))
      }
      if case .failed(let error) = outcome, case .output(let refusal) = SourceFailure(error, plan: memory),
        refusal.kind == .blocked, makeRoom(for: operation)
      {
        if follow(operation) { return }
        return ended(operation, .cancelledWhileRunning(stopReason))
      }
      if case .succeeded = outcome, thumbnail?.found.isUnchanged == true {
        // A join needs what the thumbnails tell of the source.
        let describing = DescribingOperation(source: operation.source, place: operation.place, shared: shared)
        if joins == nil || !follow(operation, by: describing) { return upToDate(operation) }
        return
      }
      ended(operation, outcome)
    case let page as SheetPageOperation: joins?.sheet?.ended(page, outcome)
    default: break
    }
  }

  private func ended(_ operation: SourceOperation, _ outcome: Outcome) {
    let findings = (operation as? ThumbnailOperation)?.found ?? ThumbnailOperation.Findings()
    var result: SourceResult
    switch outcome {
    case .succeeded:
      if let entry = (operation as? DescribingOperation)?.entry {
        joins?.store(entry)
        return upToDate(operation)
      }
      // A comparison that the stop of the job leaves without its consequence.
      result = operation is VerifyingOperation ? .cancelled(stopReason) : findings.result ?? .notImage
    case .failed(let error): result = failed(SourceFailure(error, plan: memory))
    case .cancelledWhileRunning(.timeout), .cancelledWhileWaiting(.timeout):
      result = .failed(.timeout(settings.timeout))
    case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason): result = .cancelled(reason)
    }
    if let watch {
      watch.note(operation.source.path, isFruitless: result.isFruitless, read: findings.file)
      if !watch.ended(operation.source.path), case .failed = result { result = .gone }
    }
    let report = SourceReport(
      source: operation.source, result: result, thumbnails: findings.thumbnails, warnings: findings.warnings,
      shortfall: findings.shortfall, bytes: findings.file?.bytes, operation: operation.snapshot())
    ledger?.record(report, findings.file, hash: findings.hash)
    joins?.store(report, findings, place: operation.place)
    self.report(report)
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

  private func upToDate(_ operation: SourceOperation) {
    _ = watch?.ended(operation.source.path)
    state.withLock { $0.tally.upToDate += 1 }
  }

  /// Queues the operation that follows one that has compared a source, needs the whole of it, or has come too early.
  ///
  /// - Parameter next: nil for the one that `operation` makes.
  /// - Returns: false if the job is stopping.
  private func follow(_ operation: SourceOperation, by next: SourceOperation? = nil) -> Bool {
    state.withLock { state in
      guard state.stopCause == nil else { return false }
      operation.markRequeued()
      state.requeued.append(Requeued(operation: next ?? operation, timesCancelled: operation.timesCancelled))
      return true
    }
  }

  /// Requeues the source of an operation that memory pressure has cancelled.
  ///
  /// - Returns: false if the source is left for another run.
  private func requeue(_ operation: SourceOperation) -> Bool {
    // An operation that held no memory did not cause the pressure.
    let times = operation.timesCancelled + (operation.hasHeldMemory ? 1 : 0)
    return state.withLock { state in
      guard state.stopCause == nil, settings.onPressure == .requeue, times < Self.maximumCancellations else {
        return false
      }
      operation.markRequeued()
      state.requeued.append(Requeued(operation: operation, timesCancelled: times))
      state.tally.requeued += 1
      return true
    }
  }

  func report(_ report: SourceReport) {
    if report.operation == nil, report.result.isFruitless {
      watch?.note(report.source.path, isFruitless: true, read: nil)
    }
    let tally = state.withLock { state in
      state.tally.count(report)
      return state.tally
    }
    onEvent(.source(report))
    guard case .failed(let failure) = report.result, !failure.isEarlier else { return }
    if settings.halt?.isReached(failed: tally.failed - tally.failedEarlier, ended: tally.ended) == true {
      stop(.tooManyFailures)
    }
  }

  func report(_ error: WalkError) {
    state.withLock { $0.tally.count(error) }
    onEvent(.walkError(error))
  }
}
