import BoundedQueue
import Files
import Foundation
import Ledger
import TraceRecording

// Intake: from the walk over the sources to their operations on the queue.
extension Job {
  /// Walks the sources and submits their operations.
  ///
  /// - Returns: the counters of the walk, and whether it has reached every source.
  func walkSources() -> (WalkCounters, isComplete: Bool) {
    let plan = shared.owners.plan
    var isComplete = true
    let shouldStop = {
      guard self.isStopping else { return false }
      isComplete = false  // the walk asks only while there may be more entries
      return true
    }
    let walk = walker.walk(
      .all, meanwhile: resubmit, shouldStop: shouldStop, onFolder: seenDisks.entered, onError: report
    ) { source in
      // Without an output folder, a source that has appeared only now is left for another run.
      if hasSources, trace.span("Job.add", { add(source, plan) }) { return .goOn }
      isComplete = false
      return .stop
    }
    if isComplete { state.withLock { $0.total = $0.tally.found } }
    return (walk, isComplete)
  }

  /// Submits an operation for a source that needs one.
  ///
  /// - Returns: false if the job is stopping.
  func add(_ source: Source, _ plan: OutputPlan) -> Bool {
    var source = source
    source.number = state.withLock { state in
      defer { state.tally.found += 1 }
      return state.tally.found
    }
    source.isContested = plan.isContested(source)
    let place: Path
    switch trace.span("OutputPlan.placement", { plan.placement(of: source) }) {
    case .place(let found): place = found
    case .taken(let rival):
      watch?.loses(source.path)
      return refuse(source, .placeTaken(by: rival))
    case .duplicate(let rival):
      report(SourceReport(source: source, result: .duplicate(of: rival)))
      return true
    case .reserved: return refuse(source, .placeReserved)
    }
    if let address = source.address { return addRemote(source, address, at: place) }
    let found = trace.span("Job.thumbnailState") { thumbnailState(of: source, at: place) }
    let isDone = found.isUpToDate && !settings.force
    if let refusal = found.refusal, isDone || refusal == .placeIsSource {
      // A thumbnail beside the photos is found as a source, too; its operation passes it over.
      if ThumbnailMark(of: source.path, in: AT_FDCWD) == nil {
        return refuse(source, refusal)
      }
    } else if isDone {
      if settings.verify == .content, !settings.dryRun {
        return start(SourceTask(source: source, place: place, work: .verify(known: ledger?.hash(of: source))))
      }
      if joins != nil { return start(SourceTask(source: source, place: place, work: .describe)) }
      state.withLock { $0.tally.upToDate += 1 }
      return true
    }
    switch ledger?.memory(of: source, found.entry) {
    case .failed(let failure, let file): return refuse(source, failure, file)
    case .suspect(let deaths):
      watch?.began(source.path)
      // One death has mostly another cause. After two, the fence is worth that a JPEG's samples may differ a little there.
      let task = SourceTask(source: source, place: place, work: .make, isSuspect: deaths > 1)
      state.withLock { $0.suspects.append(task) }
      onEvent(.postponed(source))
      return true
    case nil: return start(SourceTask(source: source, place: place, work: .make))
    }
  }

  /// The place of a source's first thumbnail in the first output.
  private func firstPlace(of source: Source, _ place: Path) -> Path {
    outputs[0].place(of: source, place, size: outputs[0].options.sizes[0])
  }

  /// Submits the first operation of a source.
  ///
  /// - Returns: false if the job is stopping.
  func start(_ task: SourceTask) -> Bool {
    watch?.began(task.source.path)
    return submit(makeOperation(for: task))
  }

  /// The operation that does the work of a task.
  func makeOperation(for task: SourceTask) -> SourceOperation {
    switch task.work {
    case .make: ThumbnailOperation(task, shared: shared)
    case .describe: DescribingOperation(task, shared: shared) { [joins] in joins?.store($0) }
    case .verify(let known): VerifyingOperation(task, known: known, shared: shared)
    }
  }

  /// Reports a source that can have no thumbnail, whatever it is.
  ///
  /// - Parameter file: the version of the source; nil if it is not known.
  /// - Returns: true: the walk goes on.
  func refuse(_ source: Source, _ failure: SourceFailure, _ file: SourceFile.Version? = nil) -> Bool {
    let report = SourceReport(source: source, result: .failed(failure))
    if failure.kind == .collision { ledger?.lost(source) }
    joins?.store(report, ThumbnailOperation.Findings(file: file))
    self.report(report)
    return true
  }

  /// Submits the operation of a source as soon as the backlog has room.
  ///
  /// - Returns: false if the job is stopping.
  func submit(_ operation: SourceOperation) -> Bool {
    guard submit(operation as BoundedOperation) else {
      report(SourceReport(source: operation.source, result: .cancelled(stopReason)))
      return false
    }
    return true
  }

  /// Submits an operation as soon as the backlog has room.
  ///
  /// - Parameter other: the queue of the operation; nil for that of the thumbnails.
  /// - Returns: false if the job is stopping.
  func submit(_ operation: BoundedOperation, to other: BoundedOperationQueue? = nil) -> Bool {
    let queue = other ?? queue
    while true {
      do {
        try trace.span("BoundedOperationQueue.submit") { () throws(SubmitError) in try queue.submit(operation) }
        return true
      } catch {
        // Memory pressure also cancels a submission that waits for room. The queue stays open, so submit again.
        if error == .cancelled(.pressure), !isStopping { continue }
        return false
      }
    }
  }

  /// Submits the further operations of sources that need one.
  func resubmit() {
    let requeued = state.withLock { state in
      defer { state.requeued = [] }
      return state.requeued
    }
    for task in requeued {
      // If the job is stopping, neither is submitted.
      if let fetch = task.fetch, fetch.claim() { _ = submit(fetch, to: network.queue) }
      _ = submit(makeOperation(for: task))
    }
  }

  /// What is there of a source's thumbnails.
  struct ThumbnailState {
    /// Whether all that can be made are up to date. They count as missing if the status of the source cannot be read: its
    /// operation then fails with the exact error.
    var isUpToDate = false
    /// Why others cannot be made.
    var refusal: SourceFailure?
    /// What the ledger remembers of the source.
    var entry: LedgerEntry?
  }

  /// Looks at a source's thumbnails, and remembers them if they are up to date.
  func thumbnailState(of source: Source, at place: Path) -> ThumbnailState {
    let entry = ledger?.entry(of: source)
    var found = ThumbnailState(entry: entry)
    guard case .success(let status) = FileStatus.of(source.path, followingLinks: true) else { return found }
    if let note = watch?.found(source.path, status) { onEvent(.watch(note)) }
    var files = outputs.map { $0.files(of: source, place) }
    let isItself = files.joined().contains { $0.map { FileIdentity($0) == FileIdentity(status) } ?? false }
    if let entry, let ledger, !isItself, let states = Self.states(files), ledger.isMade(entry, status, states) {
      ledger.correctOthers(source, entry)
      found.isUpToDate = true
      return found
    }
    for _ in 1...2 {
      (found.isUpToDate, found.refusal) = (true, nil)
      for (output, files) in zip(outputs, files) {
        switch output.state(of: source, place, status, files: files, owners: shared.owners) {
        case .isSource:
          found.refusal = .placeIsSource
          return found
        case .isTaken(let place):
          found.refusal = found.refusal ?? .output(OutputError(.taken, output.path.appending(place)))
        case .upToDate: break
        case .missing, .stale: found.isUpToDate = false
        }
      }
      guard found.isUpToDate, found.refusal == nil, let ledger else { return found }
      // Thumbnails that are older than a fault of the source are no proof that it is sound.
      if let entry, ledger.hasFailed(entry, status) {
        found.isUpToDate = false
        return found
      }
      // Their marks may have been renewed, or another run has replaced them: only files whose marks were read count.
      let former = Self.states(files)
      files = outputs.map { $0.files(of: source, place) }
      if let states = Self.states(files), states == former {
        ledger.recordUpToDate(
          source, status, entry, thumbnails: files.joined().count, first: firstPlace(of: source, place), states)
        return found
      }
    }
    return found
  }

  /// The states of all these files together; nil if one is missing.
  private static func states(_ files: [[stat?]]) -> FileState? {
    let there = files.joined().compactMap { $0 }
    return there.count == files.joined().count ? FileState.together(there.map { FileState($0) }) : nil
  }
}
