import ArgumentParser
import Foundation
import JobSettings
import Jobs

/// The exit statuses of the process. Those from 64 on are from sysexits.h.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  /// At least one source failed. All others are done, unless so many failed that the job stopped. Also: a running job
  /// rejected a request.
  case someFailed = 1
  case usage = 64
  case jobFileInvalid = 65
  case noSuchSource = 66
  /// The status endpoint cannot be opened, or no job answers at the address.
  case noStatusAddress = 69
  /// A limit of the system is too low for the process.
  case systemLimit = 71
  case cannotCreateOutput = 73
  case ioError = 74
  /// The job stopped early. A later run can do the rest.
  case workRemains = 75

  var code: ExitCode { ExitCode(rawValue) }
}

extension JobReport {
  /// The exit status of a finished job. The first of these decides: the signal that ended it, an error of standard
  /// output, an output that can take no more, work that remains for another reason than failures, a fault of the disk or
  /// an incomplete trace, a manifest, contact sheet or gallery that could not be made, a missing argument, a failed source, a folder that could not be read or a thumbnail that could not be removed.
  ///
  /// - Parameters:
  ///   - signal: the INT or TERM that ended it; 0 for none.
  ///   - outputError: the error number of standard output; nil if all writes succeeded.
  ///   - isTraced: false if a requested trace is incomplete.
  ///   - known: what sources mean that failed in an earlier run.
  func exitCode(
    ending signal: CInt, outputError: CInt?, isTraced: Bool, known: KnownFailures = .fail
  ) -> ExitCode {
    if signal != 0 { return ExitCode(128 + signal) }
    if let outputError, outputError != EPIPE { return ExitStatus.ioError.code }
    if case .outputFailed = stopCause { return ExitStatus.ioError.code }
    // Too many failures do not end with 75, which service managers and schedulers take for a success, or for a reason to
    // start again.
    if workRemains, stopCause != .tooManyFailures { return ExitStatus.workRemains.code }
    let joinErrors = joins.compactMap { if case .failed(let error) = $0.result { error } else { nil } }
    if tally.diskFaults > 0 || !isTraced || joinErrors.contains(where: \.isDiskFault) { return ExitStatus.ioError.code }
    if !joinErrors.isEmpty { return ExitStatus.cannotCreateOutput.code }
    if tally.missingArguments > 0 { return ExitStatus.noSuchSource.code }
    let failed = known == .ok ? tally.withKnown.failed : tally.failed
    if failed > 0 || tally.walkErrors > 0 || (pruned?.failed ?? 0) > 0 { return ExitStatus.someFailed.code }
    return ExitStatus.success.code
  }
}
