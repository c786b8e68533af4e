import ArgumentParser
import ThumbnailJobs

/// What the process says by its exit status (sysexits.h where it has a word for it).
enum ExitStatus: Int32 {
  case success = 0
  /// At least one source failed; all others were made.
  case someFailed = 1
  case usage = 64
  case jobFileInvalid = 65
  case noSuchSource = 66
  case cannotCreateOutput = 73
  case ioError = 74
  /// Stopped early: work remains, and a later run does it.
  case workRemains = 75

  var code: ExitCode { ExitCode(rawValue) }
}

extension JobReport {
  /// The status of a finished job. A signal that ended it has the say, then that work remains, then what went wrong.
  var exitCode: ExitCode {
    if case .signal(let number) = stopCause { return ExitCode(128 + number) }
    if workRemains { return ExitStatus.workRemains.code }
    if tally.outOfSpace > 0 { return ExitStatus.ioError.code }
    if tally.missingArguments > 0 { return ExitStatus.noSuchSource.code }
    if tally.failed > 0 || tally.walkProblems > 0 { return ExitStatus.someFailed.code }
    return ExitStatus.success.code
  }
}
