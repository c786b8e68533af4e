import Foundation
import Locking
import Synchronization

/// One unit of work that a ``BoundedOperationQueue`` runs, that can be watched while it waits and runs, cancelled at
/// any moment, and that ends exactly once with an ``Outcome``, also when it never ran.
///
/// Subclass it and override ``execute()``; call ``checkCancelled()`` often and ``report(stage:)`` and
/// ``report(fraction:)`` where a watcher would want to know. An operation runs once: make a new one to do it again.
///
/// ```swift
/// final class CopyOperation: BoundedOperation, @unchecked Sendable {
///   private let from: String
///   private let to: String
///
///   init(from: String, to: String) {
///     self.from = from
///     self.to = to
///     super.init(title: "copy \(from) → \(to)")
///   }
///
///   override func execute() throws {
///     report(stage: "copying")
///     try checkCancelled()
///     try FileManager.default.copyItem(atPath: from, toPath: to)
///   }
/// }
/// ```
///
/// *Concurrency*: every member may be called from any thread. ``execute()`` is called on one thread of the queue's.
/// Foundation's `completionBlock` should not be used (on Linux it is kept for ever, with all it captures, and runs after
/// waiters are released: swift-corelibs-foundation, Operation.swift): observe the queue instead.
open class BoundedOperation: Operation, @unchecked Sendable {  // see each property for its guard
  /// Unique within the process, ascending in the order of creation.
  public let id: Int
  /// What the operation does and to what, such as "thumbnail photos/a.jpg".
  public let title: String

  /// Guards everything that changes in the life of the operation, except progress and reserved bytes, which are atomic.
  let state = Locked(OperationState())

  /// True from the first request to cancel; set under `state`, read anywhere.
  private let cancelRequested = Atomic(false)
  /// Millionths of the work done; negative while unknown.
  private let progress = Atomic(-1)
  private let reserved = Atomic(0)

  private static let lastID = Atomic(0)

  /// - Parameter title: what the operation does and to what, on one line.
  public init(title: String) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.title = title
  }

  // MARK: For subclasses

  /// Does the work. Override it; never call it.
  ///
  /// Returning means success. Throwing means failure, or cancellation if one was asked for before.
  open func execute() throws {
    preconditionFailure("\(type(of: self)) must override execute()")
  }

  /// Leaves ``execute()`` when somebody has asked for cancellation. Costs an atomic load: call it per row, per block.
  public final func checkCancelled() throws(OperationCancelledError) {
    guard isCancelled else { return }
    throw OperationCancelledError(reason: state.withLock { $0.cancelReason ?? .user })
  }

  /// Enters a stage of the work, named by a word that a person reads ("decoding"). Observers hear of it.
  public final func report(stage: String) {
    guard state.withLock({ $0.enter(stage) }) else { return }
    post(.stage(stage))
  }

  /// Says how much of the work is done, from 0 to 1. Costs an atomic store; nobody is told, whoever looks sees it.
  public final func report(fraction: Double) {
    progress.store(fraction.isNaN ? -1 : Int(Swift.min(Swift.max(fraction, 0), 1) * 1_000_000), ordering: .relaxed)
  }

  /// Does the part of the work that takes memory, with `bytes` of the queue's ``QueueLimits/budget`` reserved for it.
  ///
  /// Waits until they are free, in the order in which the queue's operations asked. An operation has one reservation at a
  /// time: with two it might wait for itself. Outside a queue nothing is waited for. More than a pebibyte counts as one.
  ///
  /// *Concurrency*: only in ``execute()``, on its thread, which waits.
  ///
  /// - Throws: ``BudgetExceededError`` when the queue does not give so much to one operation, ``OperationCancelledError`` when it
  ///   was cancelled while it waited, and whatever `body` throws.
  public final func withReservation<Result>(of bytes: Int, _ body: () throws -> Result) throws -> Result {
    precondition(bytes >= 0, "operation #\(id) reserves \(bytes) bytes")
    precondition(reserved.load(ordering: .relaxed) == 0, "operation #\(id) has a reservation already")
    guard let queue = state.withLock({ $0.queue }) else { return try body() }
    let bytes = min(bytes, 1 << 50)  // so that no sum of them overflows
    try queue.reserve(bytes, for: self)
    reserved.store(bytes, ordering: .relaxed)
    defer {
      reserved.store(0, ordering: .relaxed)
      queue.giveBack(bytes)
    }
    return try body()
  }

  // MARK: Looking and cancelling

  /// True from the first request to cancel, also when it comes too late to stop anything.
  public final override var isCancelled: Bool { cancelRequested.load(ordering: .acquiring) }

  /// How it ended; nil until then.
  public final var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Asks the operation to stop. One that waits ends at once, without running; one that runs ends when its work next
  /// looks at ``isCancelled``. The first reason stands.
  ///
  /// - Returns: false when it had ended before.
  @discardableResult
  public final func cancel(reason: CancelReason) -> Bool {
    let (accepted, queue) = markCancelled(reason)
    queue?.withdraw(self)
    return accepted
  }

  /// ``cancel(reason:)`` by the user.
  public final override func cancel() { cancel(reason: .user) }

  /// What there is to know about the operation at this moment.
  public final func snapshot() -> OperationSnapshot {
    let (copy, queue) = state.withLock { ($0.withoutEvents(), $0.queue) }
    let hasBegun = if case .running = copy.phase { true } else { false }
    let millionths = progress.load(ordering: .relaxed)
    return OperationSnapshot(
      id: id, title: title, state: copy, fraction: millionths < 0 ? nil : Double(millionths) / 1_000_000,
      bytesReserved: reserved.load(ordering: .relaxed),
      waitReason: copy.outcome == nil ? queue?.waitReason(self, hasBegun: hasBegun) : nil)
  }

  /// The snapshot on one line: number, what it does, and how it stands.
  public final override var description: String { snapshot().description }

  // MARK: Foundation's machinery

  /// Called by the operation queue, also for a cancelled operation.
  public final override func start() {
    let queue = state.withLock { state in
      precondition(!state.isQueued, "start() called on operation #\(id), which waits for its turn in a queue")
      return state.queue
    }
    CurrentQueue.with(queue) {
      runToEnd()
      queue?.finished(self)
    }
  }

  public final override func main() {
    let (begun, queue) = state.withLock { ($0.begin(), $0.queue) }
    guard begun else { return }
    queue?.began(self)
    post(.started)
    let outcome: Outcome
    do {
      try execute()
      outcome = .succeeded
    } catch {
      outcome = state.withLock { $0.cancelReason }.map { .cancelledWhileRunning($0) } ?? .failed(error)
    }
    end(outcome)
  }

  /// Goes through Foundation's life cycle, and settles an operation that was cancelled too early for `main()`.
  func runToEnd() {
    super.start()
    guard let reason = state.withLock({ $0.reasonToEndUnstarted() }) else { return }
    end(.cancelledWhileWaiting(reason))
  }

  /// Remembers the request; the caller then takes the operation out of its queue's line.
  func markCancelled(_ reason: CancelReason) -> (accepted: Bool, queue: BoundedOperationQueue?) {
    let result = state.withLock { state in
      guard state.outcome == nil else { return (accepted: false, queue: state.queue) }
      state.cancelReason = state.cancelReason ?? reason
      // Under the lock, so that a queue the operation joins later is sure to see it.
      cancelRequested.store(true, ordering: .releasing)
      return (accepted: true, queue: state.queue)
    }
    super.cancel()
    return result
  }

  private func end(_ outcome: Outcome) {
    let ended = state.withLock { $0.end(outcome) }
    precondition(ended, "operation #\(id) ended twice")
  }
}
