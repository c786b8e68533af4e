import BoundedQueue
import Files
import PictureMaking
import Places
import Sourcing

/// The work on one source: the next step, and the results that later steps need.
///
/// Every operation on the source carries its task. When the operation has ended, ``next(after:in:)`` decides what
/// follows. That has no effect, so the life of a source is tested without a queue.
struct SourceTask: Sendable {
  /// What the next operation does.
  enum Work: Sendable, Equatable {
    /// Makes the thumbnails.
    case make
    /// Reads what the thumbnails tell of the source.
    case describe
    /// Compares the source with its hash in the ledger; nil if the ledger knows none.
    case verify(known: UInt64?)
    /// Compares the source with the contents that thumbnails were made of, and keeps these if they are the same.
    case recognize(RecognizedSource)
  }

  let source: Source
  /// The place of its thumbnails, from ``OutputPlan``.
  let place: Path
  var work: Work
  /// Whether earlier runs died while the source was under way, and it may be why.
  var isSuspect = false
  /// How often memory pressure has cancelled the work on the source.
  var timesCancelled = 0
  /// The thumbnails that earlier, cancelled operations have put in place.
  var thumbnails: [MadeThumbnail] = []
  /// Brings the source here, or reads its file; nil if neither is needed, or not any more.
  var supply: SupplyOperation?
  /// Makes ``supply`` when the source is started, which may be long after it was found; nil if it needs none, or has it.
  var makeSupply: (@Sendable (SourceTask) -> SupplyOperation)?

  /// How often memory pressure may cancel the work on one source. After the last time the source is left for another
  /// run.
  private static let maximumCancellations = 3

  /// How an operation has ended, in all that decides what follows.
  enum Ending: Sendable {
    /// The thumbnails are in place, or there can be none.
    case made(SourceResult)
    /// The thumbnails turned out to be up to date.
    case unchanged
    /// The thumbnails have told of the source.
    case described
    /// The source was compared with its hash.
    case verified(hash: UInt64, isUnchanged: Bool)
    case failed(SourceFailure)
    /// Only a part of the source was fetched, and the whole of it is needed.
    case incomplete
    /// Something was in the way of the thumbnails, and is gone.
    case unblocked
    /// - Parameter hasHeldMemory: whether the operation has had a reservation.
    case cancelled(CancelReason, hasHeldMemory: Bool)
  }

  /// What follows.
  enum Step: Sendable {
    /// A further operation.
    case goOn(SourceTask)
    /// Nothing: the thumbnails were up to date.
    case upToDate
    /// Nothing: this is the result.
    case end(SourceResult)
  }

  /// The state of the job that the next step depends on.
  struct Conditions: Sendable {
    /// Why the job stops; nil if it goes on.
    var stop: CancelReason?
    /// Whether what memory pressure cancels is done again.
    var requeues: Bool
    /// Whether the job makes something of all thumbnails, for which it has to know each source.
    var describes: Bool
    let timeout: Duration
  }

  /// What follows the operation of this task.
  func next(after ending: Ending, in conditions: Conditions) -> Step {
    // Where the job stops, nothing follows, and the source is left for another run.
    func goOn(_ work: Work) -> Step {
      if let stop = conditions.stop { return .end(.cancelled(stop)) }
      var next = self
      next.work = work
      if work == .describe { next.supply = nil }
      return .goOn(next)
    }
    switch ending {
    case .made(let result): return .end(result)
    case .failed(let failure): return .end(.failed(failure))
    case .described: return .upToDate
    case .unchanged: return conditions.describes && conditions.stop == nil ? goOn(.describe) : .upToDate
    case .verified(_, isUnchanged: true): return conditions.describes ? goOn(.describe) : .upToDate
    case .verified(_, isUnchanged: false): return goOn(.make)
    case .incomplete, .unblocked: return goOn(work)
    case .cancelled(.timeout, _): return .end(.failed(.timeout(conditions.timeout)))
    // It waits for its time in the backlog, so that the sources of other hosts get its place.
    case .cancelled(.postponed, _): return goOn(work)
    case .cancelled(.pressure, let hasHeldMemory):
      // An operation that held no memory did not cause the pressure.
      let times = timesCancelled + (hasHeldMemory ? 1 : 0)
      guard conditions.stop == nil, conditions.requeues, times < Self.maximumCancellations else {
        return .end(.cancelled(.pressure))
      }
      var next = self
      next.timesCancelled = times
      return .goOn(next)
    case .cancelled(let reason, _): return .end(.cancelled(reason))
    }
  }
}

extension CancelReason {
  /// Its work is done later by another operation, because something that it needs is not available yet.
  static let postponed = CancelReason("postponed", saying: "to be done later by another operation")
}
