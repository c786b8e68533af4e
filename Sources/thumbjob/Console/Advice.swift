import BoundedQueue
import Files
import StatusEndpoint
import ThumbnailJobs
import Thumbnails

/// Adds to the errors of the libraries what a user can do about them. The libraries know no options.
enum Advice {
  /// The line that a user reads: the error, and the advice if there is one.
  static func line(_ error: any Error) -> String { advice(on: error).map { "\(error); \($0)" } ?? "\(error)" }

  private static func advice(on error: any Error) -> String? {
    switch error {
    case let failure as SourceFailure: advice(on: failure)
    case let error as ThumbnailError: advice(on: error)
    case let error as OutputError: advice(on: error)
    case let error as WalkError: advice(on: error)
    case is StatusEndpointError: "--status chooses another address, or off"
    default: nil
    }
  }

  private static func advice(on failure: SourceFailure) -> String? {
    switch failure {
    case .source(let error): advice(on: error)
    case .output(let error): advice(on: error)
    case .memory(let error, let plan):
      memoryOption(for: error.needed, in: plan).map { "\($0) would allow it" }
        ?? "that is more than the process may use at all, \(plan.limit)"
    case .timeout: "--timeout allows more"
    case .placeIsSource: "choose another folder with --out"
    case .placeTaken, .placeReserved, .other: nil
    }
  }

  private static func advice(on error: ThumbnailError) -> String? {
    switch error {
    case .corrupt: "--fail-on truncated may let it pass"
    case .imperfect: "--fail-on error may let it pass"
    case .tooManyPixels(let size, _): "--limit-pixels \(size.count) would let it pass"
    case .thumbnailTooLarge(let size, _): "ask for a smaller size, or --limit-pixels \(size.count)"
    default: nil
    }
  }

  private static func advice(on error: OutputError) -> String? {
    switch error.kind {
    case .cannotCreate: "choose another with --out"
    case .foreign: "move it away or choose another folder with --out"
    case .shared, .taken, .blocked, .nameTooLong, .closed, .failed: nil
    }
  }

  private static func advice(on error: WalkError) -> String? {
    switch error.kind {
    case .tooManyOpenFiles: "raise the limit with ulimit -n or lower --max"
    case .isOutput: "choose another with --out"
    case .nulInEntry: "give NUL-separated lists with --files0-from -"
    default: nil
    }
  }

  /// The option that lets one operation reserve so many bytes; nil if the process may not use that much.
  static func memoryOption(for bytes: Int, in plan: MemoryPlan) -> String? {
    bytes > plan.available ? nil : "--memory \((bytes + (1 << 20) - 1) >> 20)M"
  }
}

extension StopCause {
  /// The cause in the words of the command, to follow `stopped`, such as `by USR2`.
  var text: String {
    switch self {
    case .startNothingNew: "by HUP"
    case .timeIsUp: "because its time (--for) is over"
    case .tooManyFailures: "because too many sources failed (--halt)"
    case .pressure: "by memory pressure (--on-pressure cancel)"
    case .cancelled(let sender), .shutdown(let sender): "by \(sender)"
    case .outputLost: "because its standard output failed"
    }
  }
}
