import BoundedQueue
import Locking

/// Looks at the clock for a job: cancels operations that run too long, and ends the job when its time is up.
///
/// Time is counted in ticks, not read from a clock: a process that is stopped (TSTP, a suspended machine) gets no ticks,
/// so what it missed does not count against anybody.
final class Watchdog: Sendable {
  /// Between two looks.
  static let tick = Duration.milliseconds(100)

  private struct State {
    /// Ticks that each running operation has been seen running.
    var ages: [Int: Int] = [:]
    var ticks = 0
  }

  private let state = Locked(State())
  private let queue: BoundedOperationQueue
  private let timeoutTicks: Int
  private let totalTicks: Int?
  private let onTimeUp: @Sendable () -> Void

  /// - Parameters:
  ///   - timeout: how long one operation may run.
  ///   - total: how long the job may run; nil for as long as it takes.
  ///   - onTimeUp: called once, when that has passed.
  init(
    queue: BoundedOperationQueue, timeout: Duration, total: Duration?, onTimeUp: @escaping @Sendable () -> Void
  ) {
    self.queue = queue
    timeoutTicks = Self.ticks(timeout)
    totalTicks = total.map(Self.ticks)
    self.onTimeUp = onTimeUp
  }

  /// Looks every tick for as long as the ticker that comes back is kept and not stopped.
  func start() -> Ticker {
    Ticker(name: "thumbjob.watchdog", every: Self.tick) { self.look() }
  }

  private func look() {
    let running = queue.snapshot(waitingLimit: 0).running.filter { operation in
      if case .running = operation.state { true } else { false }
    }
    let (expired, isTimeUp) = state.withLock { state in
      state.ticks += 1
      let before = state.ages
      // Waiting for memory is not the operation's own time.
      state.ages = Dictionary(
        uniqueKeysWithValues: running.map { ($0.id, before[$0.id, default: 0] + ($0.waitReason == nil ? 1 : 0)) })
      return (state.ages.filter { $0.value > timeoutTicks }.map(\.key), state.ticks == totalTicks)
    }
    for id in expired { queue.cancel(id: id, reason: .timeout) }
    if isTimeUp { onTimeUp() }
  }

  private static func ticks(_ duration: Duration) -> Int {
    // Capped where a tick count would no longer fit; nobody waits for that.
    let ticks = (duration / tick).rounded(.up)
    return ticks < 1e15 ? max(1, Int(ticks)) : Int(1e15)
  }
}
