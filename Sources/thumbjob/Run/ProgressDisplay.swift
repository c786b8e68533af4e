import BoundedQueue
import Foundation
import ThumbnailJobs

/// Tells a person how a job goes: a bar at the bottom of a terminal, or now and then a line.
///
/// *Concurrency*: looks at the job from a ticker's queue; the job knows nothing of it.
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

  /// Looks again and again until `finish` is called.
  func start() -> Ticker {
    Ticker(name: "thumbjob.progress", every: style == .bar ? .milliseconds(100) : .seconds(10)) { self.look() }
  }

  /// Takes the bar away.
  func finish() {
    if style == .bar { console.setBottom("") }
  }

  private func look() {
    let status = job.status(waitingLimit: 0)
    switch style {
    case .bar: console.setBottom(bar(status, columns: console.columns))
    case .plain: console.say("thumbjob: \(counts(status))")
    }
  }

  private func counts(_ status: Job.Status) -> String {
    let tally = status.tally
    let rate = Double(tally.made) / max(status.elapsed / .seconds(1), 0.001)
    var text = "\(tally.ended) of \(status.total.map(String.init) ?? "\(tally.found) found so far")"
    text += " · \(Units.decimal(rate))/s"
    if let total = status.total, rate > 0, total > tally.ended, status.queue.pauses.isEmpty {
      // By what was made: files that were passed over or up to date went by in no time.
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

  /// The file's name in an operation's title.
  private static func name(_ title: String) -> Substring {
    let path = OperationTitle.source(in: title)
    return path.split(separator: "/").last ?? path
  }
}
