import ArgumentParser
import Foundation
import ThumbnailJobs

/// What the process says by its exit status (sysexits.h where it has a word for it).
enum ExitStatus: Int32 {
  case success = 0
  /// At least one source failed; all others were made. Or a running job refused what was asked of it.
  case someFailed = 1
  case usage = 64
  case jobFileInvalid = 65
  case noSuchSource = 66
  /// The job cannot be asked where it was said, or nobody answers there.
  case noStatusAddress = 69
  /// The system gives the process too little to run with.
  case systemLimit = 71
  case cannotCreateOutput = 73
  case ioError = 74
  /// Stopped early: work remains, and a later run does it.
  case workRemains = 75

  var code: ExitCode { ExitCode(rawValue) }
}

extension JobReport {
  /// The status of a finished job. The signal that ended it has the say, then an output that failed, then that work
  /// remains, then what went wrong.
  ///
  /// - Parameters:
  ///   - signal: the INT or TERM that ended it; 0 for none.
  ///   - outputError: the error number that standard output failed with.
  ///   - isTraced: whether the trace asked for is whole.
  func exitCode(ending signal: CInt, outputError: CInt?, isTraced: Bool) -> ExitCode {
    if signal != 0 { return ExitCode(128 + signal) }
    if let outputError, outputError != EPIPE { return ExitStatus.ioError.code }
    if workRemains { return ExitStatus.workRemains.code }
    if tally.diskFaults > 0 || !isTraced { return ExitStatus.ioError.code }
    if tally.missingArguments > 0 { return ExitStatus.noSuchSource.code }
    if tally.failed > 0 || tally.walkProblems > 0 { return ExitStatus.someFailed.code }
    return ExitStatus.success.code
  }
}
