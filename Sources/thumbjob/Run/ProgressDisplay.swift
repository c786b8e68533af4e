import BoundedQueue
import Files
import Foundation
import ThumbnailJobs

/// Shows the progress of a job: a bar at the bottom of a terminal, or a line every ten seconds.
///
/// *Concurrency*: it reads the status of the job on the queue of a ticker. The job does not know the display.
final class ProgressDisplay: Sendable {
  enum Style { case bar, plain }

  private let job: Job
  private let console: Console
  private let style: Style

  init(_ job: Job, _ console: Console, _ style: Style) {
    self.job = job
    self.console = console
    self.style = style
  }

  /// Shows the progress repeatedly until the returned ticker is stopped.
  func start() -> Ticker {
    Ticker(name: "thumbjob.progress", every: style == .bar ? .milliseconds(100) : .seconds(10)) { self.update() }
  }

  /// Removes the bar.
  func finish() {
    if style == .bar { console.setBottom("") }
  }

  private func update() {
    let status = job.status(waitingLimit: 0)
    switch style {
    case .bar: console.setBottom(bar(status, columns: console.columns))
    case .plain: console.print("thumbjob: \(counts(status))")
    }
  }

  private func counts(_ status: Job.Status) -> String {
    let tally = status.tally
    let rate = Double(tally.made) / max(status.elapsed / .seconds(1), 0.001)
    var text = "\(tally.ended) of \(status.total.map(String.init) ?? "\(tally.found) found so far")"
    text += " · \(Units.decimal(rate))/s"
    if let total = status.total, rate > 0, total > tally.ended, status.queue.pauses.isEmpty {
      // The rate counts only the sources that were made, because the others take hardly any time.
      text += " · ETA \(Units.time(.seconds(Double(total - tally.ended) / rate)))"
    }
    if !status.queue.pauses.isEmpty { text += " · \(status.queue.pauses)" }
    if tally.failed > 0 { text += " · \(tally.failed) failed" }
    return text
  }

  private func bar(_ status: Job.Status, columns: Int) -> String {
    var line = ""
    if let total = status.total, total > 0 {
      let width = min(24, columns / 4)
      let full = min(width, width * status.tally.ended / total)
      let filled = String(repeating: "━", count: full)
      let rest = String(repeating: "─", count: width - full)
      line = console.hasColour ? "\u{1B}[32m\(filled)\u{1B}[90m\(rest)\u{1B}[0m " : "\(filled)\(rest) "
    }
    let running = status.queue.running.compactMap { operation -> String? in
      guard let stage = operation.stage else { return nil }
      let percent = operation.fraction.map { " \(Int($0 * 100)) %" } ?? ""
      return "\(Self.name(operation.title)) \(stage)\(percent)"
    }
    let visible = counts(status) + (running.isEmpty ? "" : " · \(running.joined(separator: ", "))")
    let used = line.isEmpty ? 0 : min(24, columns / 4) + 1
    return line + String(visible.prefix(max(0, columns - used - 1)))
  }

  /// The name of the source in the title of an operation.
  private static func name(_ title: String) -> Substring {
    let path = OperationTitle.source(in: title)
    return path.split(separator: "/").last ?? path
  }
}
