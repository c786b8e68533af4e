import BoundedQueue
import ThumbnailJobs

/// What USR1 prints: every running and waiting operation, and the numbers.
enum QueueListing {
  static func text(_ status: Job.Status) -> String {
    let queue = status.queue
    let counters = queue.counters
    var lines = ["thumbjob: \(counters.running) of \(queue.limits.max) running"]
    lines += queue.running.map { "  \($0)" }
    lines.append("thumbjob: \(counters.waiting) of \(queue.limits.backlog) waiting")
    lines += queue.waiting.map { "  \($0)" }
    let rest = counters.waiting - queue.waiting.count
    if rest > 0 { lines.append("  … and \(rest) more") }
    let tally = status.tally
    lines.append(
      "thumbjob: \(tally.found) found · \(tally.made) made · \(tally.upToDate) up to date · \(tally.failed) failed · "
        + "\(tally.cancelled) cancelled")
    lines.append(
      "thumbjob: \(Units.time(status.elapsed)) so far · at most \(counters.peakRunning) running, "
        + "\(counters.peakWaiting) waiting")
    return lines.joined(separator: "\n")
  }
}
