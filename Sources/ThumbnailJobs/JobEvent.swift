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
  /// Somebody asked for it to be cancelled (USR2).
  case cancelled
  /// A signal ended the process: its number.
  case signal(CInt)
  /// Somebody asked to start nothing new (HUP).
  case hangup
  /// The time given with `--for` is over.
  case timeIsUp
  /// As many failures as `--halt` allows.
  case tooManyFailures
  /// Nobody reads the output any more.
  case brokenPipe

  /// Whether what runs may finish.
  var sparesRunning: Bool {
    switch self {
    case .hangup, .timeIsUp, .tooManyFailures: true
    case .cancelled, .signal, .brokenPipe: false
    }
  }

  var reason: CancelReason {
    switch self {
    case .cancelled: .user
    case .signal, .hangup, .timeIsUp, .tooManyFailures, .brokenPipe: .shutdown
    }
  }
}
