import BoundedQueue
import Files
import Jobs

/// The list that USR1 prints: all running and waiting operations, and counters.
enum QueueListing {
  static func text(_ status: JobStatus) -> String {
    let queue = status.queue
    let counters = queue.counters
    var lines = ["thumbjob: \(counters.running) of \(queue.limits.max) running"]
    lines += queue.running.map { "  \($0)" }
    let forOthers = counters.waitingForDependencies
    lines.append(
      "thumbjob: \(counters.waiting) of \(queue.limits.backlog) waiting"
        + (forOthers > 0 ? ", \(forOthers) of them for others" : ""))
    lines += queue.waiting.map { "  \($0)" }
    let rest = counters.waiting - queue.waiting.count
    if rest > 0 { lines.append("  … and \(rest) more") }
    if let fetches = status.fetches { lines += fetchLines(fetches) }
    if let listing = status.listing { lines.append("thumbjob: listing \(listing)") }
    if let budget = queue.limits.budget {
      var line = "thumbjob: \(ByteCount.memory(counters.reserved, of: budget.bytes)) of memory reserved"
      if let pressure = status.pressure { line += " · pressure \(pressure.level) (\(pressure.signals))" }
      lines.append(line)
    }
    let (tally, dependants) = (status.tally, counters.cancelledForDependencies)
    lines.append(
      "thumbjob: \(tally.found) found · \(tally.made) made · \(tally.upToDate) up to date · \(tally.failed) failed · "
        + "\(tally.cancelled) cancelled\(dependants > 0 ? " · \(dependants) cancelled for a dependency" : "")")
    lines.append(
      "thumbjob: \(Units.time(status.elapsed)) so far · at most \(counters.peakRunning) running, "
        + "\(counters.peakWaiting) waiting")
    return lines.joined(separator: "\n")
  }

  /// The fetches from the network that run and wait.
  private static func fetchLines(_ queue: QueueSnapshot) -> [String] {
    ["thumbjob: \(queue.counters.running) of \(queue.limits.max) fetching, \(queue.counters.waiting) waiting"]
      + (queue.running + queue.waiting).map { "  \($0)" }
  }

  /// Lists cancelled operations by name.
  ///
  /// - Parameters:
  ///   - why: the cause.
  ///   - fate: what happens to their sources.
  ///   - namesLimit: the most names.
  static func text(_ cancelled: CancelledOperations, why: String, fate: String, namesLimit: Int) -> StyledText {
    let operations = cancelled.running + cancelled.waiting
    var lines = [
      StyledText("thumbjob: \(why): \(Units.count(operations.count, "operation")) cancelled\(fate)", .warning)
    ]
    lines += operations.prefix(namesLimit).map { StyledText("  #\($0.id) \($0.title)") }
    let rest = operations.count - namesLimit
    if rest > 0 { lines.append(StyledText("  … and \(rest) more (-v names each)")) }
    return lines.joined(separator: "\n")
  }
}
