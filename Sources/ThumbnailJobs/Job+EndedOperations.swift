import BoundedQueue

// Ending: reports the result of an operation that has ended, or requeues its source.
extension Job {
  func ended(_ operation: BoundedOperation, _ outcome: Outcome) {
    // The operations of joins report themselves.
    if let operation = operation as? SourceOperation { ended(operation, operation.ending(outcome)) }
  }

  private func ended(_ operation: SourceOperation, _ ending: SourceTask.Ending) {
    var ending = ending
    switch ending {
    // What waits to be made again must hold no disk space, for which fetches may wait.
    case .cancelled(.pressure, _), .cancelled(.postponed, _): operation.renewFetch(whole: false)
    case .incomplete: operation.renewFetch(whole: true)
    case .failed(.output(let refusal)):
      if refusal.kind == .blocked, makeRoom(for: operation) { ending = .unblocked }
    case .verified(let hash, isUnchanged: true): ledger?.record(hash: hash, of: operation.source)
    default: break
    }
    switch next(operation, ending) {
    case .goOn: return
    case .upToDate: upToDate(operation.source)
    case .end(let result): ended(operation, with: result)
    }
    operation.releaseFetch()
  }

  /// What follows an operation. A further one is submitted with the next source.
  private func next(_ operation: SourceOperation, _ ending: SourceTask.Ending) -> SourceTask.Step {
    let task = operation.taskSoFar
    return state.withLock { state in
      let conditions = SourceTask.Conditions(
        stop: state.stopCause?.reason, requeues: settings.onPressure == .requeue, describes: joins != nil,
        timeout: settings.timeout)
      let step = task.next(after: ending, in: conditions)
      if case .goOn(let next) = step {
        state.requeued.append(next)
        if case .cancelled(.pressure, _) = ending { state.tally.requeued += 1 }
      }
      return step
    }
  }

  private func ended(_ operation: SourceOperation, with result: SourceResult) {
    let findings = (operation as? ThumbnailOperation)?.found ?? ThumbnailOperation.Findings()
    var result = result
    if case .failed(let failure) = result { result = failed(failure) }
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

  /// Counts a source whose thumbnails were up to date.
  private func upToDate(_ source: Source) {
    _ = watch?.ended(source.path)
    state.withLock { $0.tally.upToDate += 1 }
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
