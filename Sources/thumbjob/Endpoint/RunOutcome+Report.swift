import ArgumentParser
import Files
import Jobs
import StatusEndpoint

// The outcome of a job as the status endpoint shows it, in the words of the command.
extension RunOutcome {
  /// - Parameter exitCode: the exit status of the process.
  init(_ report: JobReport, exitCode: ExitCode, isDryRun: Bool) {
    let (tally, exitStatus) = (report.tally, Int(exitCode.rawValue))
    let done = Self.done(tally, isDryRun)
    let dependants = Self.dependants(report)
    if report.workRemains {
      let cause = report.stopCause.map { Cause($0) } ?? (tally.cancelledByUser > 0 ? .user : .pressure)
      let counts = (done + Self.faults(tally) + dependants).joined(separator: ", ")
      let wayOn = report.stopCause?.wayOn ?? StopCause.usualWayOn
      self.init(
        .stopped, cause: cause, text: "\(report.whyWorkRemains): \(counts.isEmpty ? "nothing made" : counts); \(wayOn)",
        exitStatus: exitStatus)
      return
    }
    let faults = Self.faults(tally)
    // A signal after the last source changes the exit status, but not what was made.
    if faults.isEmpty, exitStatus == 0 || exitStatus > 128 {
      let parts = [Self.complete(report, done)] + dependants
      self.init(.complete, text: parts.joined(separator: ", "), exitStatus: exitStatus)
    } else {
      let causes = faults.isEmpty ? ["an output of the run failed"] : faults
      self.init(.failed, text: (causes + dependants + done).joined(separator: ", "), exitStatus: exitStatus)
    }
  }

  private static func complete(_ report: JobReport, _ done: [String]) -> String {
    switch (report.tally.made, report.tally.upToDate) {
    case (0, 0): "nothing to do: no \(report.words.source) found"
    case (0, let upToDate): "all up to date: \(Units.count(upToDate, "source"))"
    case (_, 0): "all \(done.joined())"
    default: "all done: \(done.joined(separator: ", "))"
    }
  }

  private static func done(_ tally: JobTally, _ isDryRun: Bool) -> [String] {
    var parts: [String] = []
    if tally.made > 0 { parts.append("\(tally.made) \(isDryRun ? "would be made" : "made")") }
    if tally.upToDate > 0 { parts.append("\(tally.upToDate) up to date") }
    return parts
  }

  /// Operations that were cancelled because one that they depend on did not succeed.
  private static func dependants(_ report: JobReport) -> [String] {
    let count = report.counters.cancelledForDependencies
    return count > 0 ? ["\(count) cancelled for a dependency"] : []
  }

  private static func faults(_ tally: JobTally) -> [String] {
    var parts: [String] = []
    if tally.failed > 0 { parts.append("\(tally.failed) failed") }
    if tally.missingArguments > 0 { parts.append(Units.count(tally.missingArguments, "source") + " missing") }
    if tally.walkErrors > 0 { parts.append(Units.count(tally.walkErrors, "place") + " could not be read") }
    return parts
  }
}

extension RunOutcome.Cause {
  init(_ cause: StopCause) {
    switch cause {
    case .startNothingNew, .shutdown: self = .signal
    case .timeIsUp: self = .time
    case .tooManyFailures: self = .failures
    case .pressure: self = .pressure
    case .cancelled(let sender): self = sender == JobEndpoints.sender ? .user : .signal
    case .outputFailed, .outputLost: self = .output
    }
  }
}
