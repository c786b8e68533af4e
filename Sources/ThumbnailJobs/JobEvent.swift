import BoundedQueue

/// What a job tells whoever runs it, as it happens.
public enum JobEvent: Sendable {
  /// A source is done with. For sources that are up to date there is none: they are counted only.
  case source(SourceReport)
  /// The walk could not look into something.
  case problem(WalkProblem)
}

/// Why a job ended before its sources did.
public enum StopCause: Sendable, Equatable {
  /// Somebody asked to start nothing new.
  case noMore
  /// The time given with `--for` is over.
  case timeIsUp
  /// As many failures as `--halt` allows.
  case tooManyFailures
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
    case .cancelled, .outputLost, .shutdown: false
    }
  }

  /// Whether it takes the place of a cause that came before: it ends more, or the whole process.
  func overrides(_ first: StopCause) -> Bool {
    first.sparesRunning && !sparesRunning || first != .shutdown && self == .shutdown
  }

  var reason: CancelReason {
    switch self {
    case .cancelled: .user
    case .noMore, .timeIsUp, .tooManyFailures, .outputLost, .shutdown: .shutdown
    }
  }
}
