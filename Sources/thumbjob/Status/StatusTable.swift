import Files
import StatusEndpoint

/// Formats the status of running jobs.
enum StatusTable {
  /// The most waiting operations to list.
  private static let waitingNamed = 20
  /// The most failed operations to list.
  static let failuresNamed = 5

  /// A table with a line for each job.
  ///
  /// - Parameter silent: the process ids of jobs that did not answer.
  static func text(_ jobs: [RunStatus], silent: [Int] = []) -> String {
    var rows = [["PID", "STATE", "DONE", "FAILED", "RATE", "ETA", "RESERVED", "PRESSURE", "SOURCES"]]
    rows += jobs.map { job in
      [
        "\(job.pid)", job.state.rawValue, done(job), "\(job.counters.failed)", rate(job), eta(job) ?? "-",
        ByteCount.memory(job.memory.reservedBytes, of: job.memory.budgetBytes), job.pressure.level.rawValue,
        sources(job),
      ]
    }
    rows += silent.map { pid in
      ["\(pid)", ProcessStatus(of: pid)?.isStopped == true ? "stopped" : "silent"] + [String](repeating: "-", count: 7)
    }
    return Columns.text(rows)
  }

  /// One job with its operations.
  ///
  /// - Parameter failed: the first failed operations.
  static func detail(_ job: RunStatus, _ failed: [OperationStatus]) -> String {
    let counters = job.counters
    let reason = job.stopReason.map { ": \(oneLine($0))" } ?? ""
    var lines = [
      "process \(job.pid), \(sources(job)): \(job.state.rawValue)\(reason), "
        + "for \(time(job.elapsedSeconds))"
    ]
    let parts = [
      (counters.made, "made"), (counters.upToDate, "up to date"), (counters.passedOver, "passed over"),
      (counters.failed, "failed"), (counters.cancelled, "cancelled"), (counters.requeued, "requeued by pressure"),
    ]
    let done = (["\(done(job)) done"] + parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }).joined(separator: " · ")
    lines.append("  \(done) · \(rate(job))" + (eta(job).map { " · ETA \($0)" } ?? ""))
    lines.append(
      "  memory: \(ByteCount.memory(job.memory.reservedBytes, of: job.memory.budgetBytes)) reserved, "
        + "\(ByteCount.memory(job.memory.residentBytes)) held · pressure \(job.pressure.level.rawValue) "
        + "(from \(job.pressure.source))" + (job.pressure.cause.map { ": \(oneLine($0))" } ?? ""))
    let (running, waiting) = (
      "\(counters.running) of \(job.limits.max) running", "\(counters.waiting) of \(job.limits.backlog) waiting"
    )
    // Repeated here, because the lists below may be longer than the screen.
    lines.append("  \(running) · \(waiting)")
    if !failed.isEmpty {
      lines.append("\(counters.failed) failed")
      lines += failed.map { "  #\($0.id) \(oneLine($0.source)): \(oneLine($0.reason ?? ""))" }
      if counters.failed > failed.count { lines.append("  … and \(counters.failed - failed.count) more") }
    }
    lines.append(running)
    lines += job.running.map(line)
    lines.append(waiting)
    lines += job.waiting.prefix(waitingNamed).map(line)
    let rest = counters.waiting - min(job.waiting.count, waitingNamed)
    if rest > 0 { lines.append("  … and \(rest) more") }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ operation: OperationStatus) -> String {
    var parts: [String] = []
    if let stage = operation.stage { parts.append(operation.fraction.map { "\(stage) \(percent($0)) %" } ?? stage) }
    if let why = operation.waitReason { parts.append(why) }
    if operation.reservedBytes > 0 { parts.append(ByteCount.memory(operation.reservedBytes)) }
    parts.append(time(operation.ageSeconds))
    // The name is last, because a terminal may cut off the end of the line.
    return "  #\(operation.id) \(parts.joined(separator: ", ")): \(oneLine(operation.description))"
  }

  private static func done(_ job: RunStatus) -> String {
    "\(job.counters.ended) of \(job.counters.total.map { "\($0)" } ?? "\(job.counters.found)+")"
  }

  private static func rate(_ job: RunStatus) -> String { "\(Units.decimal(job.rates.sourcesPerSecond))/s" }

  private static func eta(_ job: RunStatus) -> String? { job.etaSeconds.map(time) }

  /// Limits the number to what can be formatted, because the answer may come from any program.
  private static func time(_ seconds: Double) -> String { Units.time(.seconds(min(max(seconds, 0), 1e9))) }

  private static func percent(_ fraction: Double) -> Int { Int(min(max(fraction, 0), 1) * 100) }

  private static func sources(_ job: RunStatus) -> String { oneLine(job.sources.joined(separator: " ")) }

  /// Escapes line feeds, because the answer may come from any program: its text must not look like further lines.
  static func oneLine(_ text: String) -> String { text.replacing("\n", with: "\\n") }
}
