import BoundedQueue
import Foundation
import Locking
import MemoryPressure
import Synchronization

/// Acts on memory pressure for a job, as a `PressurePolicy` decides: stops admission at a warning; at critical cancels, and
/// lets what was cancelled be done again at half the width once it is quiet, growing back as long as it stays so.
///
/// *Concurrency*: events and ticks come from any thread; what they lead to is done on a serial queue, one after the other.
final class PressureGovernor: Sendable {
  private struct State {
    var policy: PressurePolicy
    var isFinished = false
  }

  private let queue: BoundedOperationQueue
  /// What has been heard and is to be done. Decided on `order` alone.
  private let state: Locked<State>
  /// True while a tick is on its way: those that come meanwhile are left out, so that none pile up.
  private let isTicking = Atomic(false)
  private let order = DispatchQueue(label: "thumbjob.pressure")
  /// Where notes are told: whoever does not take them keeps nothing from being done. Few ever wait, because levels rise
  /// and fall seconds apart.
  private let telling = DispatchQueue(label: "thumbjob.pressure-notes")
  private let stop: @Sendable () -> CancelledOperations
  private let giveBack: @Sendable () -> Void
  private let onNote: @Sendable (PressureNote) -> Void

  /// - Parameters:
  ///   - stop: ends the job.
  ///   - giveBack: hands memory that nobody uses back to the system.
  ///   - onNote: told what was done, one after the other.
  init(
    queue: BoundedOperationQueue, response: PressureResponse, stop: @escaping @Sendable () -> CancelledOperations,
    giveBack: @escaping @Sendable () -> Void, onNote: @escaping @Sendable (PressureNote) -> Void
  ) {
    self.queue = queue
    state = Locked(State(policy: PressurePolicy(response, fullMax: queue.limits.max)))
    self.stop = stop
    self.giveBack = giveBack
    self.onNote = onNote
  }

  func handle(_ event: PressureEvent) {
    order.async { [self] in
      let max = queue.limits.max
      guard let step = state.withLock({ $0.isFinished ? nil : $0.policy.take(event, max: max) }) else { return }
      switch event {
      case .changed(_, _, let cause): carryOut(step, cause, isChange: true)
      case .criticalAgain(_, let cause): carryOut(step, cause, isChange: false)
      case .signalsLost(let cause): tell(.lostSource, cause, isChange: false)
      }
    }
  }

  /// The width that it grows back to is another from here on, and never more.
  func setFullMax(_ max: Int) { state.withLock { $0.policy.fullMax = max } }

  /// To be called every `Watchdog.tick`.
  func tick() {
    guard !isTicking.exchange(true, ordering: .acquiringAndReleasing) else { return }
    order.async { [self] in
      isTicking.store(false, ordering: .releasing)
      let counters = queue.counters
      let isIdle = counters.reserved == 0 && counters.running == counters.waitingForMemory
      let max = queue.limits.max
      let step = state.withLock { $0.isFinished ? nil : $0.policy.tick(max: max, isIdle: isIdle) }
      if let step { carryOut(step, nil, isChange: false) }
    }
  }

  /// Returns when what was handed over before has been dealt with, and told. Nothing is done afterwards.
  func finish() {
    order.sync { state.withLock { $0.isFinished = true } }
    telling.sync {}
  }

  private func carryOut(_ step: PressurePolicy.Step, _ cause: PressureCause?, isChange: Bool) {
    if let action = action(step) { tell(action, cause, isChange: isChange) }
    switch step {
    case .pause, .requeue, .stop, .giveBack: giveBack()
    case .resume, .oneAtATime, .widen, .tell: break
    }
  }

  private func tell(_ action: PressureNote.Action, _ cause: PressureCause?, isChange: Bool) {
    let level = state.withLock { $0.policy.level }
    let note = PressureNote(level: level, cause: cause, action: action, isChange: isChange)
    telling.async { self.onNote(note) }
  }

  /// Does it to the queue. Nil where nobody needs to know.
  private func action(_ step: PressurePolicy.Step) -> PressureNote.Action? {
    switch step {
    case .pause:
      queue.pause(.pressure)
      return .paused
    case .requeue(let max):
      queue.pause(.pressure)
      queue.changeLimits { $0.max = max }
      return .requeued(queue.cancelAll(reason: .pressure))
    case .stop: return .stopped(stop())
    case .resume:
      queue.resume(.pressure)
      return .resumed(max: queue.limits.max)
    case .oneAtATime:
      queue.changeLimits { $0.max = 1 }
      queue.resume(.pressure)
      return .oneAtATime
    case .widen(let max):
      // Decided before, it may be more than somebody has allowed since.
      let fullMax = state.withLock { $0.policy.fullMax }
      queue.changeLimits { $0.max = min(max, fullMax) }
      return .widened(max: min(max, fullMax))
    case .giveBack: return nil
    case .tell: return PressureNote.Action.none
    }
  }
}
