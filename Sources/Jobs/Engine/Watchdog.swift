import BoundedQueue
import Locking

/// Cancels operations on sources that run too long, and ends the job when its time is over.
///
/// It counts ticks and does not read a clock: while the process is stopped (Ctrl-Z, a suspended machine), no time
/// passes.
final class Watchdog: Sendable {
  /// The time between two checks.
  static let tick = Duration.milliseconds(100)

  private struct State {
    /// The ticks for which each running operation has run, by its id.
    var ages: [Int: Int] = [:]
    var ticks = 0
  }

  private let state = Locked(State())
  private let queue: BoundedOperationQueue
  private let timeoutTicks: Int
  private let totalTicks: Int?
  /// Stages in which an operation waits, which do not count.
  private let waitingStages: Set<String>
  private let onTimeUp: @Sendable () -> Void
  /// Nil before it begins, and after it has ended. Between, it keeps this object.
  private let ticker = Locked<Ticker?>(nil)

  /// - Parameters:
  ///   - timeout: how long one operation may run.
  ///   - total: how long the job may run; nil means no limit.
  ///   - waitingStages: the stages in which an operation waits.
  ///   - onTimeUp: called once, after `total`.
  init(
    queue: BoundedOperationQueue, timeout: Duration, total: Duration?, waitingStages: Set<String> = [],
    onTimeUp: @escaping @Sendable () -> Void
  ) {
    self.queue = queue
    self.waitingStages = waitingStages
    timeoutTicks = Self.ticks(timeout)
    totalTicks = total.map(Self.ticks)
    self.onTimeUp = onTimeUp
  }

  /// Checks once every tick from now on. While it does, further calls have no effect.
  func begin() {
    ticker.withLock { if $0 == nil { $0 = Ticker(name: "watchdog", every: Self.tick) { self.check() } } }
  }

  /// Checks no more.
  func end() { ticker.withLock { $0.take() }?.stop() }

  private func check() {
    let running = queue.snapshot(waitingLimit: 0).running.filter { operation in
      if case .running = operation.state { operation.source != nil } else { false }
    }
    let (expired, isTimeUp) = state.withLock { state in
      state.ticks += 1
      let before = state.ages
      // The time for which an operation waits for memory does not count.
      state.ages = Dictionary(
        uniqueKeysWithValues: running.map { operation in
          let waits = operation.waitReason != nil || operation.stage.map(waitingStages.contains) == true
          return (operation.id, before[operation.id, default: 0] + (waits ? 0 : 1))
        })
      return (state.ages.filter { $0.value > timeoutTicks }.map(\.key), state.ticks == totalTicks)
    }
    for id in expired { queue.cancel(id: id, reason: .timeout) }
    if isTimeUp { onTimeUp() }
  }

  private static func ticks(_ duration: Duration) -> Int {
    // The number is capped, because a very long duration would overflow Int.
    let ticks = (duration / tick).rounded(.up)
    return ticks < 1e15 ? max(1, Int(ticks)) : Int(1e15)
  }
}
