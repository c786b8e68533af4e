import BoundedQueue
import Files
import Jobs
import MemoryPressure

/// The list that USR1 prints: all running and waiting operations, and counters.
enum QueueListing {
  /// - Parameters:
  ///   - columns: the width of the terminal; nil for no limit.
  ///   - ellipsis: what takes the place of what is left out of a line.
  static func text(_ status: JobStatus, columns: Int?, _ ellipsis: String) -> String {
    let queue = status.queue
    let counters = queue.counters
    var lines = status.awaited.map { "thumbjob: waits until \($0.description) has ended" }
    lines += Self.lines(of: queue, columns, ellipsis)
    for case (let queue?, let verb) in [(status.fetches, "fetching"), (status.reads, "reading ahead")] {
      let (counters, most) = (queue.counters, queue.limits.maxConcurrentOperations)
      lines.append("thumbjob: \(counters.running) of \(most) \(verb), \(counters.waiting) waiting")
      lines += (queue.running + queue.waiting).map { line($0, saying: nil, columns, ellipsis) }
    }
    if status.held > 0 {
      lines.append(
        "thumbjob: \(Units.count(status.held, "source")) held back, to start in the order of their places on the disk")
    }
    if let listing = status.listing { lines.append("thumbjob: listing \(listing)") }
    if let line = memoryLine(of: queue, status.pressure) { lines.append(line) }
    let (tally, dependants) = (status.tally, counters.cancelledForDependencies)
    lines.append(
      "thumbjob: \(tally.found) found · \(tally.made) made · \(tally.upToDate) up to date · \(tally.failed) failed · "
        + "\(tally.cancelled) cancelled\(dependants > 0 ? " · \(dependants) cancelled for a dependency" : "")")
    lines.append(
      "thumbjob: \(Units.time(status.elapsed)) so far · at most \(counters.peakRunning) running, "
        + "\(counters.peakWaiting) waiting")
    return lines.joined(separator: "\n")
  }

  /// What a server of previews does.
  static func text(
    previews: QueueSnapshot, bodies: QueueSnapshot, _ pressure: PressureSnapshot?, columns: Int?, _ ellipsis: String
  ) -> String {
    var lines = lines(of: previews, columns, ellipsis)
    lines.append("thumbjob: \(bodies.counters.running) pictures are being received")
    lines += bodies.running.map { line($0, saying: nil, columns, ellipsis) }
    if let line = memoryLine(of: previews, pressure) { lines.append(line) }
    return lines.joined(separator: "\n")
  }

  private static func lines(of queue: QueueSnapshot, _ columns: Int?, _ ellipsis: String) -> [String] {
    let counters = queue.counters
    func list(_ operations: [OperationSnapshot], saying known: String? = nil) -> [String] {
      operations.map { line($0, saying: known, columns, ellipsis) }
    }
    var lines = ["thumbjob: \(counters.running) of \(queue.limits.maxConcurrentOperations) running"]
    lines += list(queue.running)
    let forOthers = counters.waitingForDependencies
    let reason = commonReason(queue.waiting)
    lines.append(
      "thumbjob: \(counters.waiting) of \(queue.limits.backlog) waiting"
        + (forOthers > 0 ? ", \(forOthers) of them for others" : "") + (reason.map { ": \($0)" } ?? ""))
    lines += list(queue.waiting, saying: reason)
    let rest = counters.waiting - queue.waiting.count
    if rest > 0 { lines.append("  … and \(rest) more") }
    return lines
  }

  private static func memoryLine(of queue: QueueSnapshot, _ pressure: PressureSnapshot?) -> String? {
    guard let budget = queue.limits.budget else { return nil }
    let line = "thumbjob: \(ByteCount.memory(queue.counters.reserved, of: budget.bytes)) of memory reserved"
    return line + (pressure.map { " · pressure \($0.level) (\($0.signals))" } ?? "")
  }

  /// Why most of several operations wait; nil if they have no reason in common.
  private static func commonReason(_ operations: [OperationSnapshot]) -> String? {
    var counts: [String: Int] = [:]
    for operation in operations { if let reason = operation.waitReason { counts[reason, default: 0] += 1 } }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }.flatMap { $0.value > 1 ? $0.key : nil }
  }

  /// One operation. Where the line would be too long, it says less: that it runs or waits is in the line above, most operations
  /// make thumbnails, and the beginning of the source is cut off.
  ///
  /// - Parameter known: a reason to wait that was already told.
  private static func line(
    _ operation: OperationSnapshot, saying known: String?, _ columns: Int?, _ ellipsis: String
  ) -> String {
    var text = "\(operation)"
    if let known, operation.waitReason == known { text = text.replacing(", \(known)", with: "", maxReplacements: 1) }
    let line = "  \(text)"
    guard let columns, line.displayWidth > columns else { return line }
    guard let subject = operation.subject, let kind = operation.kind, let title = text.range(of: operation.title) else {
      return line.fitted(to: columns, ellipsis)
    }
    let start = "  \(text[..<title.lowerBound])" + (kind == usualKind ? "" : "\(kind) ")
    let end = text[title.upperBound...].replacing(#/^: (running|waiting),? /#) { _ in ": " }
    let room = columns - start.displayWidth - end.displayWidth
    return (start + subject.fittedAtEnd(to: max(room, shortestSource), ellipsis) + end).fitted(to: columns, ellipsis)
  }

  private static let usualKind = "thumbnail"

  /// The least columns of a source that is cut off.
  private static let shortestSource = 14

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
