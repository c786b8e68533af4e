import JobSettings
import MemoryPressure

/// Decides the response to memory pressure. It receives events and ticks and returns steps; it has no clock and
/// no queue.
struct PressurePolicy {
  /// A response to memory pressure.
  enum Step: Equatable {
    /// Admit no operation and grant no reservation. Operations that have their reservation go on.
    case pause
    /// Cancel all operations. Those that take their place run with at most `max` at once.
    case requeue(max: Int)
    /// Cancel everything.
    case stop
    /// Go on.
    case resume
    /// Go on with one operation at a time although memory is still tight.
    case oneAtATime
    /// Run up to so many operations at once.
    case widen(to: Int)
    /// Return unused memory to the system.
    case shrink
    /// Report the level and do nothing.
    case report
  }

  /// The time between two ticks.
  static let tick = Duration.milliseconds(100)
  /// The time without an event after which one more operation may run at once.
  static let growth = Duration.seconds(5)
  /// If memory stays tight for this time while nothing runs, one operation may run: other processes hold the memory and
  /// may do so forever. Pressure that ends returns to normal sooner.
  static let longestWait = Duration.seconds(30)
  /// The time without a running operation after which unused memory returns to the system.
  static let idleness = Duration.seconds(5)

  private let response: PressureResponse
  /// The maximum that the queue widens back to.
  var fullMax: Int
  private(set) var level = PressureLevel.normal
  private var isPaused = false
  /// Ticks since the last event or the last widening.
  private var quietTicks = 0
  /// Ticks since an operation last made progress.
  private var idleTicks = 0

  init(_ response: PressureResponse, fullMax: Int) {
    self.response = response
    self.fullMax = fullMax
  }

  /// - Parameter max: the present limit of operations at once.
  mutating func handle(_ event: PressureEvent, max: Int) -> Step? {
    quietTicks = 0
    switch event {
    case .changed(_, to: let level, _):
      self.level = level
      return response == .ignore ? .report : entered(level, max: max)
    case .criticalAgain:
      if response == .ignore { return nil }
      // While the queue is paused, no operation has started since the last step, so there is no new one to cancel.
      return isPaused ? .shrink : entered(.critical, max: max)
    case .signalsLost: return .report
    }
  }

  /// - Parameters:
  ///   - max: the present limit of operations at once.
  ///   - isIdle: whether no operation makes progress.
  mutating func tick(max: Int, isIdle: Bool) -> Step? {
    quietTicks += 1
    idleTicks = isIdle ? idleTicks + 1 : 0
    let (quiet, idle) = (Self.tick * quietTicks, Self.tick * idleTicks)
    if isPaused {
      // The last operation has just released its memory.
      if idleTicks == 1 { return .shrink }
      guard idle >= Self.longestWait else { return nil }
      (isPaused, quietTicks) = (false, 0)
      return .oneAtATime
    }
    if level == .normal, quiet >= Self.growth, max < fullMax {
      quietTicks = 0
      return .widen(to: max + 1)
    }
    return idle == Self.idleness ? .shrink : nil
  }

  private mutating func entered(_ level: PressureLevel, max: Int) -> Step {
    isPaused = level > .normal
    idleTicks = 0
    return switch (level, response) {
    case (.normal, _): .resume
    case (.critical, .requeue): .requeue(max: Swift.max(1, max / 2))
    case (.critical, .cancel): .stop
    case (.warning, _), (.critical, _): .pause
    }
  }
}
