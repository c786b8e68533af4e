import Files
import Foundation
import Jobs
import Locking
import Places

// Watching: the job's notes about its folders, and what the service manager is told.
extension RunSession {
  func handle(_ note: WatchNote) {
    write(WatchLine(note))
    if case .ready = note { serviceManager?.send("READY=1") }
    let isWarning =
      switch note {
      case .ready, .back, .linked, .polling(_, .wanted, _), .polling(_, .remote, _): false
      case .polling, .overflow, .notSwept, .gone: true
      }
    if isWarning || !settings.quiet {
      messages.printLine("thumbjob: \(WatchText.text(note))", isWarning ? .warning : nil)
    }
  }

  func handleRemoval(_ path: Path, _ result: Result<Int, OutputError>) {
    write(RemovalLine(path, result))
    switch result {
    case .success: if settings.verbose { messages.printLine("removed \(path.printable)") }
    case .failure(let error): messages.printLine("thumbjob: \(Advice.line(error))", .failure)
    }
  }

  /// Says on a terminal what a watch has done, at most once a second.
  ///
  /// - Returns: nil if nobody is to be told, or the names of the thumbnails tell it.
  func startDigest(_ job: Job) -> Ticker? {
    if !console.isTerminal || settings.quiet || settings.verbose { return nil }
    let last = Locked<JobTally?>(nil)
    return Ticker(name: "digest", every: .seconds(1)) { [messages] in
      let status = job.status(waitingLimit: 0)
      let before = last.withLock { last in
        defer { last = status.tally }
        return last
      }
      if let text = WatchText.digest(status, since: before) { messages.printLine("thumbjob: \(text)") }
    }
  }

  /// Tells the service manager the state every few seconds, and that the job is alive if it wants to know.
  ///
  /// - Returns: nil if there is no service manager.
  func startService(_ job: Job) -> Ticker? {
    guard let serviceManager else { return nil }
    return Ticker(name: "service", every: min(.seconds(5), serviceManager.watchdogPause ?? .seconds(5))) {
      // It needs the locks of job and queue. A job that holds one of them for ever is not alive.
      let status = job.status(waitingLimit: 0)
      serviceManager.send("STATUS=\(WatchText.status(status))")
      if job.isFollowing { serviceManager.send("WATCHDOG=1") }
    }
  }
}
