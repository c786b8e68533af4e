import BoundedQueue
import Files
import Foundation
import ThumbnailJobs

/// The summary of a run: the results, and the peaks that show that it kept its limits.
enum Summary {
  static func text(_ report: JobReport, isDryRun: Bool) -> String {
    let tally = report.tally
    var lines: [String] = []
    let verb = isDryRun ? "would make" : "made"
    let rate = isDryRun || tally.made == 0 ? "" : " (\(Units.decimal(report.thumbnailsPerSecond)) a second)"
    lines.append(
      "\(verb) \(Units.count(tally.thumbnails, "thumbnail")) from \(tally.made) of "
        + "\(Units.count(tally.found, "source")) in \(Units.time(report.elapsed))\(rate)")
    if !rate.isEmpty {
      lines.append(
        "\(ByteCount.file(tally.bytesRead)) read at \(ByteCount.file(Int(report.bytesPerSecond)))/s, "
          + "\(ByteCount.file(tally.bytesWritten)) written")
    }
    let others = others(report)
    if !others.isEmpty { lines.append(others.joined(separator: " · ")) }
    let counters = report.counters
    lines.append(
      "within bounds: at most \(counters.peakRunning) of \(report.limits.max) running, \(counters.peakWaiting) of "
        + "\(report.limits.backlog) waiting, \(reserved(report)), \(ByteCount.memory(report.peakMemory)) held in all")
    lines.append(memory(report))
    if tally.refusedMemory > 0, let option = Advice.memoryOption(for: tally.mostMemoryNeeded, in: report.memory) {
      lines.append("\(Units.count(tally.refusedMemory, "source")) refused for memory; \(option) would allow all")
    }
    if report.workRemains {
      let cause = report.stopCause.map { "stopped \($0.text)" } ?? remaining(tally)
      let wayOn =
        report.stopCause == .tooManyFailures
        ? "repair or --exclude the failed sources, or raise --halt" : "run the same command again to go on"
      lines.append("\(cause); \(wayOn)")
    }
    return lines.joined(separator: "\n")
  }

  /// Why work remains although nothing has stopped the job.
  private static func remaining(_ tally: JobTally) -> String {
    var parts: [String] = []
    if tally.cancelledByUser > 0 { parts.append("\(tally.cancelledByUser) cancelled by the user") }
    let others = tally.cancelled - tally.cancelledByUser
    if others > 0 { parts.append("\(others) left because memory was critical") }
    return parts.isEmpty ? "not all sources were reached" : parts.joined(separator: ", ")
  }

  private static func others(_ report: JobReport) -> [String] {
    let (tally, walk) = (report.tally, report.walk)
    var parts: [String] = []
    if tally.upToDate > 0 { parts.append("\(tally.upToDate) up to date") }
    if tally.failed > 0 { parts.append("\(tally.failed) failed") }
    if tally.cancelled > 0 { parts.append("\(tally.cancelled) cancelled") }
    if tally.notImages > 0 { parts.append("\(tally.notImages) passed over (no images)") }
    for (type, count) in tally.unsupported.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      parts.append("\(count) \(type.displayName) not read yet")
    }
    if tally.duplicates > 0 { parts.append("\(tally.duplicates) given more than once") }
    if walk.earlierOutputs > 0 {
      parts.append(Units.count(walk.earlierOutputs, "folder") + " of thumbnails passed over")
    }
    if walk.filtered > 0 { parts.append("\(walk.filtered) excluded") }
    if walk.linksNotFollowed > 0 { parts.append(Units.count(walk.linksNotFollowed, "link") + " not followed") }
    if walk.special > 0 { parts.append(Units.count(walk.special, "special file") + " skipped") }
    if tally.missingArguments > 0 { parts.append(Units.count(tally.missingArguments, "source") + " missing") }
    if tally.walkErrors > 0 { parts.append(Units.count(tally.walkErrors, "place") + " could not be read") }
    return parts
  }

  private static func reserved(_ report: JobReport) -> String {
    let (peak, budget) = (report.counters.peakReserved, report.limits.budget?.bytes ?? 0)
    if peak <= budget { return "\(ByteCount.memory(peak, of: budget)) reserved" }
    return "\(ByteCount.memory(peak)) reserved by one operation alone (\(ByteCount.memory(budget)) by several)"
  }

  private static func memory(_ report: JobReport) -> String {
    let tally = report.tally
    var line = "memory: "
    if let ratio = report.worstMemoryRatio {
      line +=
        "held at most \(String(format: "%.2f", ratio)) times what was reserved, beyond the "
        + "\(ByteCount.memory(report.memory.baseline)) at the start · "
    }
    if report.pressureSource == .off { return line + "pressure not watched" }
    line += "pressure (from \(report.pressureSource)): "
    var events: [String] = []
    if tally.pressureWarnings > 0 { events.append(Units.count(tally.pressureWarnings, "warning")) }
    if tally.pressureCriticals > 0 { events.append("\(Units.count(tally.pressureCriticals, "time")) critical") }
    if tally.requeued > 0 { events.append("\(Units.count(tally.requeued, "operation")) requeued") }
    return line + (events.isEmpty ? "none" : events.joined(separator: ", "))
  }
}
