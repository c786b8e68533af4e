import BoundedQueue
import Foundation
import JobSettings
import Locking
import MemoryPressure
import Synchronization

/// Carries out what ``PressurePolicy`` decides about memory pressure.
///
/// At a warning it pauses the queue. At critical it does what `PressureResponse` says; by default it cancels all
/// operations. Once memory is normal again, half as many operations run at once, and the governor raises this number one by
/// one.
///
/// *Concurrency*: events and ticks come from any thread. A thread of its own carries them out one after the other.
final class PressureGovernor: Sendable {
  private struct State {
    var policy: PressurePolicy
    var isFinished = false
  }

  private let queue: BoundedOperationQueue
  /// Guards the policy, whose decisions are made on ``order`` only.
  private let state: Locked<State>
  /// Whether a tick is waiting on ``order``. Further ticks are dropped meanwhile, so that they cannot pile up.
  private let isTicking = Atomic(false)
  private let order = SerialThread(name: "pressure")
  /// Delivers notes, because a receiver that blocks must not stall ``order``. Few notes can wait, because levels change
  /// seconds apart.
  private let notes = SerialThread(name: "pressure notes")
  private let stop: @Sendable () -> CancelledOperations
  private let shrink: @Sendable () -> Void
  private let onNote: @Sendable (PressureNote) -> Void

  /// - Parameters:
  ///   - stop: cancels everything.
  ///   - shrink: returns unused memory to the system.
  ///   - onNote: receives the responses in order, one at a time.
  init(
    queue: BoundedOperationQueue, response: PressureResponse, stop: @escaping @Sendable () -> CancelledOperations,
    shrink: @escaping @Sendable () -> Void, onNote: @escaping @Sendable (PressureNote) -> Void
  ) {
    self.queue = queue
    state = Locked(State(policy: PressurePolicy(response, fullMax: queue.limits.maxConcurrentOperations)))
    self.stop = stop
    self.shrink = shrink
    self.onNote = onNote
  }

  func handle(_ event: PressureEvent) {
    order.async { [self] in
      let max = queue.limits.maxConcurrentOperations
      guard let step = state.withLock({ $0.isFinished ? nil : $0.policy.handle(event, max: max) }) else { return }
      switch event {
      case .changed(_, _, let cause): carryOut(step, cause, isChange: true)
      case .criticalAgain(_, let cause): carryOut(step, cause, isChange: false)
      case .signalsLost(let cause): report(.signalsLost, cause, isChange: false)
      }
    }
  }

  /// Sets the maximum that the queue widens back to.
  func setFullMax(_ max: Int) { state.withLock { $0.policy.fullMax = max } }

  /// Call it every ``PressurePolicy/tick``.
  func tick() {
    guard !isTicking.exchange(true, ordering: .acquiringAndReleasing) else { return }
    order.async { [self] in
      isTicking.store(false, ordering: .releasing)
      let counters = queue.counters
      let isIdle = counters.reserved == 0 && counters.running == counters.waitingForMemory
      let max = queue.limits.maxConcurrentOperations
      let step = state.withLock { $0.isFinished ? nil : $0.policy.tick(max: max, isIdle: isIdle) }
      if let step { carryOut(step, nil, isChange: false) }
    }
  }

  /// Delivers a message between the notes, on their thread; not after ``finish()``.
  func deliver(_ message: @escaping @Sendable () -> Void) {
    order.async { [self] in
      if state.withLock({ !$0.isFinished }) { notes.async(message) }
    }
  }

  /// Returns when all earlier events are carried out and their notes are delivered. Later events do nothing.
  func finish() {
    order.async { [self] in state.withLock { $0.isFinished = true } }
    order.drain()
    notes.drain()
  }

  private func carryOut(_ step: PressurePolicy.Step, _ cause: PressureCause?, isChange: Bool) {
    if let action = action(step) { report(action, cause, isChange: isChange) }
    switch step {
    case .pause, .requeue, .stop, .shrink: shrink()
    case .resume, .oneAtATime, .widen, .report: break
    }
  }

  private func report(_ action: PressureNote.Action, _ cause: PressureCause?, isChange: Bool) {
    let level = state.withLock { $0.policy.level }
    let note = PressureNote(level: level, cause: cause, action: action, isChange: isChange)
    notes.async { self.onNote(note) }
  }

  /// Applies a step to the queue.
  ///
  /// - Returns: nil if the step needs no note.
  private func action(_ step: PressurePolicy.Step) -> PressureNote.Action? {
    switch step {
    case .pause:
      queue.pause(.pressure)
      return .paused
    case .requeue(let max):
      queue.pause(.pressure)
      queue.changeLimits { $0.maxConcurrentOperations = max }
      return .requeued(queue.cancelAll(reason: .pressure))
    case .stop: return .stopped(stop())
    case .resume:
      queue.resume(.pressure)
      return .resumed(max: queue.limits.maxConcurrentOperations)
    case .oneAtATime:
      queue.changeLimits { $0.maxConcurrentOperations = 1 }
      queue.resume(.pressure)
      return .oneAtATime
    case .widen(let max):
      // The user may have lowered the maximum after the policy decided.
      let fullMax = state.withLock { $0.policy.fullMax }
      queue.changeLimits { $0.maxConcurrentOperations = min(max, fullMax) }
      return .widened(max: min(max, fullMax))
    case .shrink: return nil
    case .report: return PressureNote.Action.none
    }
  }
}
