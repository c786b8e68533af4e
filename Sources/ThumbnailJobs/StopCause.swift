import BoundedQueue

/// Why a job ended before all its sources were done.
public enum StopCause: Sendable, Equatable {
  /// A request to start nothing new.
  case noMore
  /// ``JobSettings/runFor`` is over.
  case timeIsUp
  /// As many sources have failed as ``JobSettings/halt`` allows.
  case tooManyFailures
  /// Memory became critical, and ``JobSettings/onPressure`` is ``PressureResponse/cancel``.
  case pressure
  /// A request to cancel everything, and its sender for messages.
  case cancelled(by: String)
  /// The receiver of the job's events can no longer take them.
  case outputLost
  /// A request to end the process, and its sender for messages.
  case shutdown(by: String)

  /// Whether running operations may finish.
  var sparesRunning: Bool {
    switch self {
    case .noMore, .timeIsUp, .tooManyFailures: true
    case .pressure, .cancelled, .outputLost, .shutdown: false
    }
  }

  /// Whether it replaces an earlier cause, because it ends more operations or the whole process.
  func overrides(_ first: StopCause) -> Bool {
    first.sparesRunning && !sparesRunning || !first.isShutdown && isShutdown
  }

  private var isShutdown: Bool { if case .shutdown = self { true } else { false } }

  var reason: CancelReason {
    switch self {
    case .cancelled: .user
    case .pressure: .pressure
    case .noMore, .timeIsUp, .tooManyFailures, .outputLost, .shutdown: .shutdown
    }
  }
}
