import BoundedQueue
import MemoryPressure

/// What a job tells whoever runs it, as it happens.
public enum JobEvent: Sendable {
  /// A source is done with. For sources that are up to date there is none: they are counted only.
  case source(SourceReport)
  /// The walk could not look into something.
  case problem(WalkProblem)
  /// Memory pressure is watched from here on: what every source said that was asked whether it can be used.
  case watching([PressureSourceReport])
  /// Memory got tight or free again, and something was done about it.
  case pressure(PressureNote)
}

/// Why a job ended before its sources did.
public enum StopCause: Sendable, Equatable {
  /// Somebody asked to start nothing new.
  case noMore
  /// The time given with `--for` is over.
  case timeIsUp
  /// As many failures as `--halt` allows.
  case tooManyFailures
  /// Memory is short, and the job is to end then.
  case pressure
  /// Somebody asked for everything to be cancelled.
  case cancelled
  /// What the job tells can no longer be told.
  case outputLost
  /// The process is to end.
  case shutdown

  /// Whether what runs may finish.
  var sparesRunning: Bool {
    switch self {
    case .noMore, .timeIsUp, .tooManyFailures: true
    case .pressure, .cancelled, .outputLost, .shutdown: false
    }
  }

  /// Whether it takes the place of a cause that came before: it ends more, or the whole process.
  func overrides(_ first: StopCause) -> Bool {
    first.sparesRunning && !sparesRunning || first != .shutdown && self == .shutdown
  }

  var reason: CancelReason {
    switch self {
    case .cancelled: .user
    case .pressure: .pressure
    case .noMore, .timeIsUp, .tooManyFailures, .outputLost, .shutdown: .shutdown
    }
  }
}
