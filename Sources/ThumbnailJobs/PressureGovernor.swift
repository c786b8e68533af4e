import BoundedQueue
import Foundation
import Locking
import MemoryPressure

/// Acts on memory pressure for a job, as a `PressurePolicy` decides: stops admission at a warning; at critical cancels, and
/// lets what was cancelled be done again at half the width once it is quiet, growing back as long as it stays so.
///
/// *Concurrency*: events and ticks come from any thread; what they lead to is done on a serial queue, one after the other.
final class PressureGovernor: Sendable {
  private let queue: BoundedOperationQueue
  /// Touched on `order` alone; the lock is for the compiler, which does not know that.
  private let policy: Locked<PressurePolicy>
  private let order = DispatchQueue(label: "thumbjob.pressure")
  private let stop: @Sendable () -> CancelledOperations
  private let giveBack: @Sendable () -> Void
  private let onNote: @Sendable (PressureNote) -> Void

  /// - Parameters:
  ///   - stop: ends the job.
  ///   - giveBack: hands memory that nobody uses back to the system.
  ///   - onNote: told what was done.
  init(
    queue: BoundedOperationQueue, response: PressureResponse, stop: @escaping @Sendable () -> CancelledOperations,
    giveBack: @escaping @Sendable () -> Void, onNote: @escaping @Sendable (PressureNote) -> Void
  ) {
    self.queue = queue
    policy = Locked(PressurePolicy(response, fullMax: queue.limits.max))
    self.stop = stop
    self.giveBack = giveBack
    self.onNote = onNote
  }

  func handle(_ event: PressureEvent) {
    order.async { [self] in
      let max = queue.limits.max
      let step = policy.withLock { $0.take(event, max: max) }
      switch event {
      case .changed(_, _, let cause): carryOut(step, cause, isChange: true)
      case .criticalAgain(_, let cause), .sourceLost(let cause): carryOut(step, cause, isChange: false)
      }
    }
  }

  /// To be called every `Watchdog.tick`.
  func tick() {
    order.async { [self] in
      let counters = queue.counters
      let isIdle = counters.reserved == 0 && counters.running == counters.waitingForMemory
      let max = queue.limits.max
      guard let step = policy.withLock({ $0.tick(max: max, isIdle: isIdle) }) else { return }
      carryOut(step, nil, isChange: false)
    }
  }

  /// Returns when what was handed over before has been dealt with, and told.
  func finish() { order.sync {} }

  private func carryOut(_ step: PressurePolicy.Step, _ cause: PressureCause?, isChange: Bool) {
    if let action = action(step) {
      let level = policy.withLock { $0.level }
      onNote(PressureNote(level: level, cause: cause, action: action, isChange: isChange))
    }
    switch step {
    case .pause, .requeue, .stop, .giveBack: giveBack()
    case .resume, .oneAtATime, .widen, .tell: break
    }
  }

  /// Does it to the queue. Nil where nobody needs to know.
  private func action(_ step: PressurePolicy.Step) -> PressureNote.Action? {
    switch step {
    case .pause:
      queue.pause()
      return .paused
    case .requeue(let max):
      queue.pause()
      queue.limits.max = max
      return .requeued(queue.cancelAll(reason: .pressure))
    case .stop: return .stopped(stop())
    case .resume:
      queue.resume()
      return .resumed(max: queue.limits.max)
    case .oneAtATime:
      queue.limits.max = 1
      queue.resume()
      return .oneAtATime
    case .widen(let max):
      queue.limits.max = max
      return .widened(max: max)
    case .giveBack: return nil
    case .tell: return PressureNote.Action.none
    }
  }
}
