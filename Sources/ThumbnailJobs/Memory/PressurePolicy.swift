import MemoryPressure

/// What is to be done about memory pressure, and when. A value that decides and does nothing else: it is told events and
/// ticks, and knows no clock and no queue.
struct PressurePolicy {
  /// What is to be done.
  enum Step: Equatable {
    /// Start nothing and give out no memory; what has its memory goes on.
    case pause
    /// Cancel everything, to be done again with so many at once.
    case requeue(max: Int)
    /// End the job.
    case stop
    /// Go on.
    case resume
    /// Go on with one at a time, though memory is as tight as before.
    case oneAtATime
    /// Let so many run at once.
    case widen(to: Int)
    /// Hand unused memory back to the system.
    case giveBack
    /// Only say so.
    case tell
  }

  /// How long it has to stay quiet for each further operation at once.
  static let growth = Duration.seconds(5)
  /// How long memory may be tight with nothing running, before one operation is let through: then others hold it, and to
  /// wait for them might be to wait for ever. Longer than it takes to become normal.
  static let patience = Duration.seconds(30)
  /// How long nothing has run when unused memory goes back.
  static let idleness = Duration.seconds(5)

  private let response: PressureResponse
  /// What the width grows back to.
  var fullMax: Int
  private(set) var level = PressureLevel.normal
  private var isPaused = false
  /// Ticks since the last event, or the last growth.
  private var quietTicks = 0
  /// Ticks since something last made progress.
  private var idleTicks = 0

  init(_ response: PressureResponse, fullMax: Int) {
    self.response = response
    self.fullMax = fullMax
  }

  /// - Parameter max: how many may run at once now.
  /// - Returns: nil for nothing.
  mutating func take(_ event: PressureEvent, max: Int) -> Step? {
    quietTicks = 0
    switch event {
    case .changed(_, to: let level, _):
      self.level = level
      return response == .ignore ? .tell : entered(level, max: max)
    case .criticalAgain:
      if response == .ignore { return nil }
      // Where nothing has been let through since, what was cancelled is on its way out already.
      return isPaused ? .giveBack : entered(.critical, max: max)
    case .signalsLost: return .tell
    }
  }

  /// - Parameters:
  ///   - max: how many may run at once now.
  ///   - isIdle: whether nothing makes progress.
  mutating func tick(max: Int, isIdle: Bool) -> Step? {
    quietTicks += 1
    idleTicks = isIdle ? idleTicks + 1 : 0
    let (quiet, idle) = (Watchdog.tick * quietTicks, Watchdog.tick * idleTicks)
    if isPaused {
      // What the last of them held can only now be given back.
      if idleTicks == 1 { return .giveBack }
      guard idle >= Self.patience else { return nil }
      (isPaused, quietTicks) = (false, 0)
      return .oneAtATime
    }
    if level == .normal, quiet >= Self.growth, max < fullMax {
      quietTicks = 0
      return .widen(to: max + 1)
    }
    return idle == Self.idleness ? .giveBack : nil
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
