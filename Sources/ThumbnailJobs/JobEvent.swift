import BoundedQueue
import MemoryPressure

/// What a job tells whoever runs it, as it happens.
public enum JobEvent: Sendable {
  /// A source is done with. For sources that are up to date there is none: they are counted only.
  case source(SourceReport)
  /// The walk could not look into something.
  case problem(WalkProblem)
  /// Memory pressure is watched from here on: what every source said that was asked whether it can be used.
  case watching([PressureSignalReport])
  /// Memory got tight or free again, and something was done about it.
  case pressure(PressureNote)
  /// The job ends before its sources do, for a reason that may yet give way to one that ends more.
  case stopping(StopCause)
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
  /// Somebody asked for everything to be cancelled: who, for people, such as `USR2`.
  case cancelled(by: String)
  /// What the job tells can no longer be told.
  case outputLost
  /// The process is to end: what asked for it, for people, such as `INT`.
  case shutdown(by: String)

  /// Whether what runs may finish.
  var sparesRunning: Bool {
    switch self {
    case .noMore, .timeIsUp, .tooManyFailures: true
    case .pressure, .cancelled, .outputLost, .shutdown: false
    }
  }

  /// Whether it takes the place of a cause that came before: it ends more, or the whole process.
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

extension StopCause: CustomStringConvertible {
  /// Such as `by USR2`, to stand behind `stopped`.
  public var description: String {
    switch self {
    case .noMore: "by HUP"
    case .timeIsUp: "because its time (--for) is over"
    case .tooManyFailures: "because too many sources failed (--halt)"
    case .pressure: "by memory pressure (--on-pressure cancel)"
    case .cancelled(let who): "by \(who)"
    case .outputLost: "because its standard output failed"
    case .shutdown(let what): "by \(what)"
    }
  }
}
