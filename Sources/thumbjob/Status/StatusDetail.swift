import Files
import StatusEndpoint

/// Formats the status of one running job with its operations.
struct StatusDetail {
  let job: RunStatus
  /// The first failed operations.
  let failed: [OperationStatus]

  /// The most waiting operations to list.
  private static let waitingNamed = 20
  /// The most failed operations to list.
  static let failuresNamed = 5
  /// The least columns of a source that is cut off.
  private static let shortestSource = 16

  /// - Parameter columns: the width of the terminal; nil for no limit.
  func text(columns: Int?, _ charset: Charset) -> String {
    let counters = job.counters
    let (running, waiting) = (
      "\(counters.running) of \(job.limits.max) running",
      "\(counters.waiting) of \(job.limits.backlog) waiting"
        + (counters.waitingForDependencies > 0 ? ", \(counters.waitingForDependencies) of them for others" : "")
    )
    func folded(_ parts: [String]) -> [String] {
      let lines = parts.map { StyledText($0) }.folded(separator: " · ", to: columns.map { $0 - 2 })
      return lines.text.split(separator: "\n").map { "  \($0)" }
    }
    func list(_ operations: some Sequence<OperationStatus>) -> [String] {
      operations.map { line($0, columns, charset) }
    }
    var lines = [heading]
    lines += (job.waitsFor ?? []).map { "  waits until \(StatusFields.oneLine($0)) has ended" }
    lines.append("  \(StatusFields.sources(job)) → \(StatusFields.outputs(job))")
    // Running and waiting are repeated here, because the lists below may be longer than the screen.
    lines += folded(progress) + folded(memory) + folded([running, waiting])
    if !failed.isEmpty {
      lines.append("\(counters.failed) failed")
      lines += failed.map { "  #\($0.id) \(StatusFields.name($0)): \(StatusFields.oneLine($0.reason ?? ""))" }
      if counters.failed > failed.count { lines.append("  … and \(counters.failed - failed.count) more") }
    }
    lines += [running] + list(job.running) + [waiting] + list(job.waiting.prefix(Self.waitingNamed))
    let rest = counters.waiting - min(job.waiting.count, Self.waitingNamed)
    if rest > 0 { lines.append("  … and \(rest) more") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The process first, because a terminal may cut off the end of the line.
  private var heading: String {
    let pauses = (job.pausedBy ?? []).map { cause in
      switch cause {
      case .user: "by the user"
      case .pressure: "because memory is tight"
      case .output: "until clients have read their previews"
      }
    }
    let reason =
      job.stopReason.map { ": \(StatusFields.oneLine($0))" } ?? pauses.map { " \($0)" }.joined(separator: " and")
    return "process \(job.pid): \(job.state.rawValue)\(reason), for \(StatusFields.time(job.elapsedSeconds))"
  }

  private var progress: [String] {
    let counters = job.counters
    let parts = [
      (counters.made, "made"), (counters.upToDate, "up to date"), (counters.passedOver, "passed over"),
      (counters.failed, "failed"), (counters.cancelled, "cancelled"),
      (counters.cancelledForDependencies, "cancelled for a dependency"), (counters.requeued, "requeued by pressure"),
    ]
    return ["\(StatusFields.done(job)) done"] + parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      + [StatusFields.rate(job)] + (StatusFields.eta(job).map { ["ETA \($0)"] } ?? [])
  }

  private var memory: [String] {
    [
      "memory: \(ByteCount.memory(job.memory.reservedBytes, of: job.memory.budgetBytes)) reserved",
      "\(ByteCount.memory(job.memory.residentBytes)) held",
      "pressure \(job.pressure.level.rawValue) (from \(job.pressure.source))"
        + (job.pressure.cause.map { ": \(StatusFields.oneLine($0))" } ?? ""),
    ]
  }

  /// One operation. Where the line would be too long, the beginning of its source is cut off, and if that is not
  /// enough, details are left out.
  private func line(_ operation: OperationStatus, _ columns: Int?, _ charset: Charset) -> String {
    let source = charset.text(StatusFields.name(operation), escapingOthers: columns != nil)
    // The details that are left out first come last.
    // As in the answer to USR1: how long it has been running, or waiting.
    let seconds = operation.state == .running ? operation.ranSeconds : operation.waitedSeconds
    var details = [StatusFields.time(seconds)]
    if let stage = operation.stage {
      details.append(operation.fraction.map { "\(stage) \(StatusFields.percent($0)) %" } ?? stage)
    }
    if operation.reservedBytes > 0 { details.append(ByteCount.memory(operation.reservedBytes)) }
    if let why = operation.waitReason { details.append(why) }
    while true {
      let start = "  #\(operation.id) \(details.joined(separator: ", ")): "
      guard let columns else { return start + source }
      let room = columns - start.displayWidth
      if room >= min(Self.shortestSource, source.displayWidth) || details.count == 1 {
        return start + source.fittedAtEnd(to: max(room, 0), charset.ellipsis)
      }
      details.removeLast()
    }
  }

  /// How a job ended, as far as its last status shows, to follow the name of its process.
  static func ending(of last: RunStatus) -> String {
    let done = "\(StatusFields.done(last)) done"
    let failed = last.counters.failed > 0 ? ", \(last.counters.failed) failed" : ""
    return "(\(StatusFields.sources(last)) → \(StatusFields.outputs(last))) has ended"
      + (last.stopReason.map { ", \(StatusFields.oneLine($0))" } ?? "") + "; last seen with \(done)\(failed)"
  }
}
