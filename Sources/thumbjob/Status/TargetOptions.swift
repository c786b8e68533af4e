import ArgumentParser
import Files
import Foundation
import JobSettings
import StatusEndpoint

/// Selects a running job: by its process, by its address, or the only one.
struct TargetOptions: ParsableArguments {
  /// By this name completions recognise that a running job is wanted.
  static let valueName = "pid or address"

  @Argument(
    help: ArgumentHelp("The job's process id, or its address: unix:PATH or HOST:PORT.", valueName: valueName))
  var target: String?

  /// A job and its name in messages.
  struct Target {
    let name: String
    let client: StatusClient

    init(_ job: RunningJob) throws(ExitCode) {
      (name, client) = ("process \(job.pid)", StatusClient(job.address))
      // A stopped process would carry out the request only when it continues, long after this command has timed out.
      if ProcessStatus(of: job.pid)?.isStopped == true {
        throw leave("\(name) is stopped (Ctrl-Z); continue it with fg or kill -CONT \(job.pid)", .noStatusAddress)
      }
    }

    init(_ address: StatusAddress, token: AccessToken?) {
      (name, client) = ("\(address)", StatusClient(address, token: token))
    }

    /// - Throws: an exit status, after printing the reason.
    func ask<Answer>(_ body: (StatusClient) throws(StatusClientError) -> Answer) throws(ExitCode) -> Answer {
      do {
        return try body(client)
      } catch {
        throw leave(error)
      }
    }

    func leave(_ error: StatusClientError) -> ExitCode {
      switch error.kind {
      case .refused(status: 401):
        leave(
          "\(name) requires its token: set THUMBJOB_TOKEN to the part of its link after #token=, or give the process id",
          .someFailed)
      case .refused: leave("\(name): \(StatusFields.oneLine(error.reason))", .someFailed)
      case .timedOut: leave("\(name) \(error.reason); it may still carry out the request", .noStatusAddress)
      case .notRunning, .connection, .garbled: leave("\(name): \(error.reason)", .noStatusAddress)
      }
    }

    private func leave(_ reason: String, _ status: ExitStatus) -> ExitCode { TargetOptions.leave(reason, status) }
  }

  /// - Throws: an exit status, after printing why this program can ask no job.
  static func requireEndpoint() throws(ExitCode) {
    if let absence = BuildTrait.endpoint.absence { throw leave(absence, .noStatusAddress) }
  }

  /// - Throws: an exit status, after printing the reason.
  func chosen() throws(ExitCode) -> Target {
    try Self.requireEndpoint()
    try Self.checkLimits()
    guard let target else {
      let jobs = RunningJobs.find()
      if jobs.count == 1 { return try Target(jobs[0]) }
      if jobs.isEmpty { throw Self.exitWithoutJob() }
      let all = jobs.map { "\($0.pid)" }.joined(separator: ", ")
      throw Self.leave("several jobs are running: \(all); name one of them, see thumbjob status", .usage)
    }
    if let pid = Int(target) {
      if let job = RunningJobs.find().first(where: { $0.pid == pid }) { return try Target(job) }
      throw Self.leave("no running job of yours has the process id \(pid); see thumbjob status", .noStatusAddress)
    }
    do {
      return try Self.target(target)
    } catch {
      throw Self.leave("\(error)", .usage)
    }
  }

  /// An address, or the link to its page.
  private static func target(_ text: String) throws -> Target {
    guard let rest = text.wholeMatch(of: /http:\/\/([^\/#]+)\/?(?:#token=(.*))?/) else {
      guard text.contains(":") else { throw TextError("\(text) is neither a process nor unix:PATH nor HOST:PORT") }
      return Target(try StatusAddress(text), token: try StatusToken.chosen())
    }
    let given = rest.output.2.flatMap { AccessToken(String($0)) }
    return Target(try StatusAddress(String(rest.output.1)), token: try given ?? StatusToken.chosen())
  }

  /// - Throws: an exit status, after printing the reason, if the process has too few files or threads for the HTTP client.
  static func checkLimits() throws(ExitCode) {
    if let problem = ProcessLimits.problemOfClient() { throw leave(problem, .systemLimit) }
  }

  static func exitWithoutJob() -> ExitCode {
    leave("no running job of yours found (one started with --status off cannot be seen)", .noStatusAddress)
  }

  private static func leave(_ reason: String, _ status: ExitStatus) -> ExitCode {
    Console().print("thumbjob: \(reason)", .failure)
    return status.code
  }
}
