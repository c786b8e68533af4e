import BoundedQueue
import Places

/// Why a job ended before all its sources were done.
package enum StopCause: Sendable, Equatable {
  /// A request to start nothing new.
  case startNothingNew
  /// ``JobSettings/runFor`` is over.
  case timeIsUp
  /// As many sources have failed as ``JobSettings/halt`` allows.
  case tooManyFailures
  /// An output can take no more thumbnails: its disk is full or read-only, or its quota is used up.
  case outputFailed(OutputError)
  /// Memory became critical, and ``JobSettings/onPressure`` is ``PressureResponse/cancel``.
  case pressure
  /// A request to cancel everything. Messages name its sender.
  case cancelled(by: String)
  /// The receiver of the job's events can no longer handle them.
  case outputLost
  /// A request to end the process. Messages name its sender.
  case shutdown(by: String)

  /// Whether running operations may finish.
  var sparesRunning: Bool {
    switch self {
    case .startNothingNew, .timeIsUp, .tooManyFailures: true
    case .outputFailed, .pressure, .cancelled, .outputLost, .shutdown: false
    }
  }

  /// Whether this cause replaces an earlier one, because it ends more operations or the whole process.
  func overrides(_ first: StopCause) -> Bool {
    first.sparesRunning && !sparesRunning || !first.isShutdown && isShutdown
  }

  private var isShutdown: Bool { if case .shutdown = self { true } else { false } }

  var reason: CancelReason {
    switch self {
    case .cancelled: .user
    case .pressure: .pressure
    case .startNothingNew, .timeIsUp, .tooManyFailures, .outputFailed, .outputLost, .shutdown: .shutdown
    }
  }
}
