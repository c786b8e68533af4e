import BoundedQueue
import Files
import Foundation
import Locking
import PictureMaking
import Sourcing

/// An operation on one source of a job.
class SourceOperation: BoundedOperation, @unchecked Sendable {  // a lock; the rest is set in `init`
  let task: SourceTask
  /// The memory of the job.
  private let memory: MemoryPlan
  /// Brings the source here, for this operation or for the one that follows it; nil if the source is a file, or if what was
  /// brought is not needed any more.
  private let supply: Locked<SupplyOperation?>
  /// What was brought here. Set once, in `init`.
  private var brought: Dependency<FetchedSource?>?

  /// - Parameters:
  ///   - task: the operation that brings its source here is submitted already.
  ///   - detail: follows the path of the source in the title; may be empty.
  init(_ work: SourceWork, _ task: SourceTask, detail: String = "", memory: MemoryPlan) {
    supply = Locked(task.supply)
    // Only `supply` keeps the other operation, so that it can be let go.
    var rest = task
    rest.supply = nil
    (self.task, self.memory) = (rest, memory)
    let path = task.source.path.printable
    super.init(title: "\(work.rawValue) \(path)\(detail)", kind: work.rawValue, subject: path)
    // If the other operation fails, this one tells why.
    brought = task.supply.map { dependency(on: $0, allowsFailure: true) }
  }

  final var source: Source { task.source }
  final var place: Path { task.place }

  // MARK: For subclasses

  /// Whether the operation has had a reservation.
  var hasHeldMemory: Bool { preconditionFailure("\(type(of: self)) must override hasHeldMemory") }

  /// What the operation has found out; called once it has succeeded.
  var success: SourceTask.Ending { preconditionFailure("\(type(of: self)) must override success") }

  /// Called once it has failed.
  func ending(after failure: SourceFailure) -> SourceTask.Ending { .failed(failure) }

  /// What the following operation on the source needs of this one's work.
  var taskSoFar: SourceTask {
    var task = task
    task.supply = supply.withLock { $0 }
    return task
  }

  /// What the operation has found out about its source.
  var findings: SourceFindings { SourceFindings() }

  /// What was brought here; nil if the source is a file.
  final func fetched() throws -> FetchedSource? {
    do { return try brought?.value ?? nil } catch let error as OperationCancelledError {
      cancel(reason: error.reason)
      throw error
    }
  }

  /// Reads all bytes of a source on this machine, to compare them with known ones.
  final func hashWhole() throws -> (file: SourceFile, hash: UInt64) {
    report(stage: "comparing")
    let file = try SourceFile(source.path)
    var done = 0
    let hash = try file.hash { bytes in
      try checkCancelled()
      done += bytes
      reportProgress(Double(done) / Double(max(1, file.size)))
    }
    return (file, hash)
  }

  /// Does the work, and does it again after failures that may be temporary.
  ///
  /// - Parameters:
  ///   - retries: how often it is done again at most.
  ///   - mayHelp: whether that may help.
  /// - Throws: ``SourceFailure`` of the last attempt, and `OperationCancelledError`.
  final func retrying<Value>(
    _ retries: Int, if mayHelp: @escaping @Sendable (SourceFailure) -> Bool, _ work: () throws -> Value
  ) throws -> Value {
    let policy = RetryPolicy(
      attempts: retries + 1, firstDelay: .milliseconds(100), longestDelay: .milliseconds(3200), randomPart: 0
    ) { ($0 as? SourceFailure).map(mayHelp) == true }
    return try retrying(policy) { _ in
      do { return try work() } catch {
        try checkCancelled()
        throw SourceFailure(error, plan: memory)
      }
    }
  }

  // MARK: Called by the engine

  /// How the operation has ended.
  final func ending(_ outcome: Outcome) -> SourceTask.Ending {
    switch outcome {
    case .succeeded: success
    case .failed(let error): ending(after: SourceFailure(error, plan: memory))
    case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason):
      .cancelled(reason, hasHeldMemory: hasHeldMemory)
    }
  }

  /// Prepares what the operation that follows needs. Called before that is made.
  final func prepareNext(after ending: SourceTask.Ending) {
    switch ending {
    // What waits to be done again must hold no disk space, for which fetches may wait.
    case .cancelled(.pressure, _), .cancelled(.postponed, _): renewSupply(whole: false)
    case .incomplete: renewSupply(whole: true)
    default: break
    }
  }

  /// Lets go of what was brought here, and has the operation that follows get it again.
  private func renewSupply(whole: Bool) {
    let released = supply.withLock { supply in
      defer { supply = supply?.renewed(whole: whole) }
      return supply
    }
    released?.cancel(reason: .pressure)
  }

  /// Lets go of what was brought here: its place on the disk is for others, which may wait for it. Called if no operation
  /// follows.
  final func release() {
    let released = supply.withLock { $0.take() }
    withExtendedLifetime(released) {}
  }
}
