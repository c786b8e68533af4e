import ArgumentParser
import Files
import Foundation
import Locking
import StatusEndpoint

/// `thumbjob status`: lists the running jobs, or shows one in detail.
struct StatusCommand: Subcommand {
  static let name = "status"
  static let handlesSignals = false
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Shows the status of running jobs.",
    usage: "thumbjob status [<pid or address>] [--watch] [--json]",
    discussion: "Without a process or address, prints a table of all your running jobs; with one, that job in detail.")

  @OptionGroup var options: TargetOptions
  @Flag(help: "Repeat every second until the job has ended.") var watch = false
  @Flag(help: "Print a JSON line for each job.") var json = false

  /// After this time without an answer, the table shows a job as silent.
  private static let timeout = Duration.seconds(2)

  func run() throws {
    try TargetOptions.requireEndpoint()
    var screen = LiveText()
    if options.target == nil { try watchAll(on: &screen) } else { try watchOne(on: &screen) }
  }

  // MARK: One

  private func watchOne(on screen: inout LiveText) throws {
    let target = try options.chosen()
    var last = try target.ask { client throws(StatusClientError) in try client.status() }
    try showOne(last, target, on: &screen)
    while watch {
      sleep(1)
      do {
        last = try target.client.status()
        try showOne(last, target, on: &screen)
      } catch let error as StatusClientError {
        // Both mean that the job has ended: at its end it closes connections that wait for an answer.
        guard error.kind == .notRunning || error.kind == .connection else { throw target.leave(error) }
        return Console().print("thumbjob: process \(last.pid) \(StatusDetail.ending(of: last))")
      }
    }
  }

  private func showOne(_ status: RunStatus, _ target: TargetOptions.Target, on screen: inout LiveText) throws {
    var failed: [OperationStatus] = []
    if status.counters.failed > 0, !json {
      let query = OperationQuery(states: [.failed], limit: StatusDetail.failuresNamed)
      failed = (try? target.client.operations(query).operations) ?? []
    }
    let detail = StatusDetail(job: status, failed: failed).text(columns: screen.width, screen.charset)
    try show([status], detail, on: &screen)
  }

  // MARK: All

  private func watchAll(on screen: inout LiveText) throws {
    try TargetOptions.checkLimits()
    var isFirst = true
    repeat {
      let (found, silent) = askAll()
      if found.isEmpty && silent.isEmpty {
        if isFirst { throw TargetOptions.exitWithoutJob() }
        return Console().print("thumbjob: no job is running now")
      }
      let table = StatusTable(jobs: found, silent: silent).text(columns: screen.width, screen.charset)
      try show(found, table, on: &screen)
      isFirst = false
      if watch { sleep(1) }
    } while watch
  }

  /// Asks all jobs at the same time.
  ///
  /// - Returns: the status of each job that answers, and the process ids of the others.
  private func askAll() -> (found: [RunStatus], silent: [Int]) {
    let jobs = RunningJobs.find()
    let answers = Locked([Result<RunStatus, StatusClientError>?](repeating: nil, count: jobs.count))
    let asked = DispatchGroup()
    // Asks each on a thread of its own, because a job that does not answer must not delay the others.
    for (index, job) in jobs.enumerated() where ProcessStatus(of: job.pid)?.isStopped != true {
      asked.enter()
      Thread.detachNewThread {
        let answer = Result { () throws(StatusClientError) in
          try StatusClient(job.address, timeout: Self.timeout).status()
        }
        answers.withLock { $0[index] = answer }
        asked.leave()
      }
    }
    asked.wait()
    var (found, silent): ([RunStatus], [Int]) = ([], [])
    for (job, answer) in zip(jobs, answers.withLock { $0 }) {
      switch answer {
      case .success(let status): found.append(status)
      // The job has ended in the meantime.
      case .failure(let error) where error.kind == .notRunning || error.kind == .connection: break
      case .failure, nil: silent.append(job.pid)
      }
    }
    return (found, silent)
  }

  private func show(_ jobs: [RunStatus], _ text: String, on screen: inout LiveText) throws {
    guard json else { return try screen.show(text, isLast: !watch) }
    for job in jobs { try StandardStream.put(JSONLinesOutput.text(of: job)) }
  }
}
