import BoundedQueue
import Files
import Marks
import Places
import Sourcing

/// Something that a job can do besides its kind of work, such as to remember sources or to watch folders.
///
/// The engine asks each of its capabilities at the same moments, in the order in which a ``PreparedKind`` has added them,
/// and knows nothing else of them. Every moment is optional.
///
/// *Concurrency*: the thread of the job calls ``start(_:)`` to ``admit(_:in:)``, ``complete(_:)`` and ``finish(_:_:)``. What
/// tells of operations comes from any thread, several at once.
protocol JobCapability: Sendable {
  /// Takes what it needs; nil if the settings do not ask for it.
  init?(_ parts: JobParts) throws(OutputError)

  /// Whether the job has to know of each source what its results tell of it.
  var describesSources: Bool { get }

  /// Further queues of the job, which are paused and resumed with its own.
  var queues: [BoundedOperationQueue] { get }

  // MARK: Beginning

  /// The job begins. What is started here ends in ``finish(_:_:)``, in the opposite order.
  func start(_ engine: Engine) throws

  /// Finds the sources in place of the engine; nil if it leaves that to the engine.
  func walk(_ engine: Engine) -> SourceWalk?

  /// The walk enters a folder that is an argument of the job or in one.
  func entered(_ folder: OpenFolder, argument: Int)

  // MARK: Sources that were found

  /// A source has a place or gets none.
  ///
  /// - Parameter isAgain: whether it was seen before, or may have been.
  /// - Returns: false if there is nothing to be said about it.
  func placed(_ source: Source, _ placement: OutputPlan.Placement, isAgain: Bool) -> Bool

  /// Decides about a candidate before anything is read of its results.
  func recall(_ candidate: inout Candidate, in engine: Engine)

  /// Changes or adds to what was decided about a candidate.
  func admit(_ candidate: inout Candidate, in engine: Engine)

  /// The operation for a task; nil if it is not one of this capability.
  func operation(for task: SourceTask) -> SourceOperation?

  /// An operation for the source is about to be submitted.
  func submitted(_ source: Source)

  // MARK: Operations that have ended

  /// An operation has ended, and this decides what follows.
  func examine(_ operation: SourceOperation, _ ending: inout SourceTask.Ending, in engine: Engine)

  /// The results of a source turned out to be up to date, or its operation was not submitted.
  func left(_ source: Source)

  /// The work on a source is done. What it was may still be changed.
  func settle(_ end: inout SourceEnd)

  /// The work on a source is done.
  func ended(_ end: SourceEnd)

  /// A source is gone, which only a watch tells.
  ///
  /// - Parameter below: whether nothing is below its path any more, either.
  func vanished(_ source: Source, andBelow below: Bool)

  // MARK: While the job runs

  /// Comes once a second, at once when the job begins, and before a source that may end the process.
  func tick()

  /// A job that looks for sources that come later has nothing to do. Comes about once a second, on the thread of the job.
  func rested(_ engine: Engine)

  /// The greatest number of operations is about to be changed.
  func maxChanges(to max: Int)

  func limitsChanged(_ limits: QueueLimits)

  /// The job is stopping: its queue takes nothing more.
  func stopping(_ cause: StopCause)

  /// Whether it looks for sources that come later, and a sign of life was given lately.
  func isFollowing(on queue: BoundedOperationQueue) -> Bool

  /// Adds what it knows to the state of the job.
  ///
  /// - Parameter waitingLimit: the most waiting operations to list.
  func tell(_ status: inout JobStatus, waitingLimit: Int)

  // MARK: The end

  /// Everything found is done, and the queue still takes operations.
  func complete(_ engine: Engine)

  /// The queue is closed.
  ///
  /// - Parameter walk: nil if the job could not begin.
  func finish(_ engine: Engine, _ walk: SourceWalk?)

  /// Adds what it has done to the report of the job.
  func tell(_ report: inout JobReport)
}

/// A capability that removes results once the job has run.
protocol ResultRemover: JobCapability {
  /// What may be removed after a run.
  ///
  /// - Parameter workRemains: whether the run ended before all its sources were done.
  func plan(after tally: JobTally, workRemains: Bool) -> PrunePlan

  /// The results of sources that are gone, after a run that removes none; nil if there are none, or if it is not known.
  func gone(after tally: JobTally, workRemains: Bool) -> GoneResults?

  /// Removes what was planned.
  ///
  /// - Parameters:
  ///   - isDryRun: whether only to tell what would be removed.
  ///   - onThumbnail: receives the path of each thumbnail, and its bytes.
  ///   - onError: receives each error; the others are removed all the same.
  /// - Returns: the counts so far if the job is stopped meanwhile.
  func prune(
    _ plan: PrunePlan, isDryRun: Bool, onThumbnail: @escaping @Sendable (Path, _ bytes: Int) -> Void,
    onError: @escaping @Sendable (OutputError) -> Void
  ) -> PruneCounts
}

/// A capability that remembers what the results tell of sources from the network, where none has a file of its own.
protocol ResultMemory: JobCapability {
  func remoteState(of source: Source) -> SettingsStamp.RemoteState
}

/// A capability that remembers which sources thumbnails are of.
protocol SourceMemory: JobCapability {
  /// Notes the sources whose results are being made; nil if nothing is noted.
  var underWay: UnderWay? { get }

  /// The absolute paths of the sources that a key stands for in marks.
  func sources(withKey key: SourceKey) -> [Path]

  /// Forgets the sources that a key stands for in marks.
  func forget(key: SourceKey)

  /// The SHA-256 digest of a source whose results are up to date; nil if it is not known, or the file has changed.
  func digest(of source: Source) -> SHA256Digest?

  /// Remembers the digest of a source whose results are up to date.
  func record(digest: SHA256Digest, of source: Source)
}

extension JobCapability {
  var describesSources: Bool { false }
  var queues: [BoundedOperationQueue] { [] }
  func start(_ engine: Engine) throws {}
  func walk(_ engine: Engine) -> SourceWalk? { nil }
  func entered(_ folder: OpenFolder, argument: Int) {}
  func placed(_ source: Source, _ placement: OutputPlan.Placement, isAgain: Bool) -> Bool { true }
  func recall(_ candidate: inout Candidate, in engine: Engine) {}
  func admit(_ candidate: inout Candidate, in engine: Engine) {}
  func operation(for task: SourceTask) -> SourceOperation? { nil }
  func submitted(_ source: Source) {}
  func examine(_ operation: SourceOperation, _ ending: inout SourceTask.Ending, in engine: Engine) {}
  func left(_ source: Source) {}
  func settle(_ end: inout SourceEnd) {}
  func ended(_ end: SourceEnd) {}
  func vanished(_ source: Source, andBelow below: Bool) {}
  func tick() {}
  func rested(_ engine: Engine) {}
  func maxChanges(to max: Int) {}
  func limitsChanged(_ limits: QueueLimits) {}
  func isFollowing(on queue: BoundedOperationQueue) -> Bool { false }
  func tell(_ status: inout JobStatus, waitingLimit: Int) {}
  func stopping(_ cause: StopCause) {}
  func complete(_ engine: Engine) {}
  func finish(_ engine: Engine, _ walk: SourceWalk?) {}
  func tell(_ report: inout JobReport) {}
}

extension [any JobCapability] {
  /// The first of a type; nil if there is none.
  func first<Capability>(of _: Capability.Type) -> Capability? { lazy.compactMap { $0 as? Capability }.first }
}

/// What a walk over the sources has come to.
struct SourceWalk {
  var counters = WalkCounters()
  /// Whether it has reached every source.
  var isComplete = true
}
