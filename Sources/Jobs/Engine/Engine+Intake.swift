import BoundedQueue
import Files
import Foundation
import PictureMaking
import Sourcing
import TraceRecording

// Intake: from the walk over the sources to their operations on the queue.
extension Engine {
  /// Walks the sources and submits their operations.
  func walkSources() -> SourceWalk {
    var isComplete = true
    let shouldStop = {
      guard self.isStopping else { return false }
      isComplete = false  // the walk asks only while there may be more entries
      return true
    }
    let counters = walker.walk(
      .all, meanwhile: resubmit, shouldStop: shouldStop, onFolder: entered, onError: report
    ) { source in
      // Without an output, a source that has appeared only now is left for another run.
      if rules.hasOutput, trace.span("Job.add", { add(source) }) { return .goOn }
      isComplete = false
      return .stop
    }
    if isComplete { state.withLock { $0.total = $0.tally.found } }
    return SourceWalk(counters: counters, isComplete: isComplete)
  }

  /// Tells that a walk enters a folder.
  func entered(_ folder: OpenFolder, argument: Int) {
    for capability in capabilities { capability.entered(folder, argument: argument) }
  }

  /// Submits an operation for a source that needs one.
  ///
  /// - Parameter isAgain: whether it was seen before, or may have been. Then it is passed over unless there is work.
  /// - Returns: false if the job is stopping.
  func add(_ source: Source, isAgain: Bool = false) -> Bool {
    var source = source
    source.number = state.withLock { $0.tally.found }
    let placement = trace.span("OutputPlan.placement") { kind.placement(of: &source) }
    for capability in capabilities where !capability.placed(source, placement, isAgain: isAgain) { return true }
    switch placement {
    case .place(let place):
      let candidate = trace.span("Job.candidate") { self.candidate(source, at: place, isAgain: isAgain) }
      if case .passOver = candidate.verdict { return true }
      count()
      return carryOut(candidate)
    case .taken(let rival):
      count()
      return refuse(source, .placeTaken(by: rival))
    case .duplicate(let rival):
      count()
      report(SourceEnd(source: source, result: .duplicate(of: rival), operation: nil))
      return true
    case .reserved:
      count()
      return refuse(source, .placeReserved)
    }
  }

  private func count() { state.withLock { $0.tally.found += 1 } }

  /// What is to be done about a source that has a place.
  private func candidate(_ source: Source, at place: Path, isAgain: Bool) -> Candidate {
    let status = source.isLocal ? try? FileStatus.of(source.path, followingLinks: true).get() : nil
    var candidate = Candidate(source, at: place, status: status, isAgain: isAgain, isForced: rules.isForced)
    // If its status cannot be read, its operation fails with the exact error.
    if status != nil { kind.look(at: &candidate) }
    for capability in capabilities { capability.recall(&candidate, in: self) }
    if candidate.verdict == nil, status != nil { kind.judge(&candidate) }
    candidate.verdict = candidate.verdict ?? .make
    for capability in capabilities { capability.admit(&candidate, in: self) }
    return candidate
  }

  /// - Returns: false if the job is stopping.
  private func carryOut(_ candidate: Candidate) -> Bool {
    let source = candidate.source
    switch candidate.verdict {
    case .upToDate: state.withLock { $0.tally.upToDate += 1 }
    case .refuse(let failure, let file): return refuse(source, failure, file)
    case .start(let task): return start(task, at: candidate.startNumber)
    case .postpone(let task):
      for capability in capabilities { capability.submitted(source) }
      state.withLock { $0.postponed.append(task) }
      listener.postponed(source)
    case .planned: report(SourceEnd(source: source, result: .made, operation: nil))
    case .stop: return false
    case .make, nil:
      return start(SourceTask(source: source, place: candidate.place, work: .make), at: candidate.startNumber)
    case .passOver: break
    }
    return true
  }

  /// Submits the first operation of a source.
  ///
  /// - Returns: false if the job is stopping.
  private func start(_ task: SourceTask) -> Bool {
    var task = task
    if let makeSupply = task.makeSupply.take() { task.supply = makeSupply(task) }
    if let supply = task.supply, supply.claim(), !submit(supply, to: supply.queue) {
      report(SourceEnd(source: task.source, result: .cancelled(stopReason), operation: nil))
      return false
    }
    for capability in capabilities { capability.submitted(task.source) }
    return submit(operation(for: task))
  }

  /// The most sources that are held back until their numbers come. Each takes about half a kilobyte.
  static let mostHeld = 4096

  /// Starts a source, or holds it back until its number comes.
  ///
  /// - Returns: false if the job is stopping.
  private func start(_ task: SourceTask, at number: UInt64?) -> Bool {
    guard let number else { return start(task) }
    state.withLock { $0.held.insert(task, at: number) }
    return startHeld(leaving: Self.mostHeld)
  }

  /// Starts sources that are held back, in the order of their numbers, while the queue has room or more than `most` are held.
  ///
  /// - Returns: false if the job is stopping.
  @discardableResult
  private func startHeld(leaving most: Int) -> Bool {
    while let task = nextHeld(leaving: most) { guard start(task) else { return false } }
    return true
  }

  private func nextHeld(leaving most: Int) -> SourceTask? {
    guard state.withLock({ $0.held.count > 0 }) else { return nil }
    let (counters, limits) = (queue.counters, queue.limits)
    let hasRoom = counters.waiting < max(limits.backlog, limits.maxConcurrentOperations - counters.running)
    return state.withLock { hasRoom || $0.held.count > most ? $0.held.next() : nil }
  }

  /// Starts all sources that are held back.
  func startAllHeld() {
    while let task = state.withLock({ $0.held.next() }) {
      resubmitAll()
      _ = start(task)
    }
  }

  /// The operation that does the work of a task.
  func operation(for task: SourceTask) -> SourceOperation {
    for capability in capabilities { if let operation = capability.operation(for: task) { return operation } }
    return kind.operation(for: task)
  }

  /// Reports a source that can have no results, whatever it is.
  ///
  /// - Parameter file: the version of the source; nil if it is not known.
  /// - Returns: true: the walk goes on.
  private func refuse(_ source: Source, _ failure: SourceFailure, _ file: SourceFile.Version? = nil) -> Bool {
    var end = SourceEnd(source: source, result: .failed(failure), operation: nil)
    end.findings.file = file
    report(end)
    return true
  }

  /// Submits the operation of a source as soon as the backlog has room.
  ///
  /// - Returns: false if the job is stopping.
  func submit(_ operation: SourceOperation) -> Bool {
    guard submit(operation as BoundedOperation) else {
      report(SourceEnd(source: operation.source, result: .cancelled(stopReason), operation: nil))
      return false
    }
    return true
  }

  /// Submits an operation as soon as the backlog has room.
  ///
  /// - Parameter other: the queue of the operation; nil for that of the job.
  /// - Returns: false if the job is stopping.
  func submit(_ operation: BoundedOperation, to other: BoundedOperationQueue? = nil) -> Bool {
    let queue = other ?? queue
    while true {
      do {
        try trace.span("BoundedOperationQueue.submit") { () throws(SubmitError) in try queue.submitBlocking(operation) }
        return true
      } catch {
        // Memory pressure also cancels a submission that waits for room. The queue stays open, so submit again.
        if error == .cancelled(.pressure), !isStopping { continue }
        return false
      }
    }
  }

  /// Submits the further operations of sources that need one, and starts sources that are held back, as far as there is room.
  func resubmit() {
    resubmitAll()
    startHeld(leaving: Self.mostHeld)
  }

  /// Submits the further operations of sources that need one, also of those whose operation ends meanwhile. So begun sources go
  /// before new ones. Apart from held sources, the walk is at most one source ahead of the queue.
  private func resubmitAll() {
    while case let requeued = takeRequeued(), !requeued.isEmpty {
      for task in requeued {
        // If the job is stopping, neither is submitted.
        if let supply = task.supply, supply.claim() { _ = submit(supply, to: supply.queue) }
        _ = submit(operation(for: task))
      }
    }
  }

  private func takeRequeued() -> [SourceTask] {
    state.withLock { state in
      defer { state.requeued = [] }
      return state.requeued
    }
  }
}
