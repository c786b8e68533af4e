import BoundedQueue
import Foundation
import Jobs
import Locking

/// Shows the progress of a job: a bar at the bottom of a terminal, or lines in a log, ever more rarely.
///
/// *Concurrency*: it reads the status of the job on the queue of a ticker. The job does not know the display.
final class ProgressDisplay: Sendable {
  enum Style { case bar, plain }

  private let job: Job
  private let console: Console
  private let style: Style
  /// How often it was updated. Only the ticker's thread uses it.
  private let updates = Confined(0)

  init(_ job: Job, _ console: Console, _ style: Style) {
    self.job = job
    self.console = console
    self.style = style
  }

  /// Shows the progress repeatedly until the returned ticker is stopped.
  func start() -> Ticker {
    Ticker(name: "progress", every: style == .bar ? .milliseconds(100) : .seconds(10)) { self.update() }
  }

  /// Removes the bar.
  func finish() {
    if style == .bar { console.setBottom("") }
  }

  /// Whether a line in a log is due, ten seconds after the last update: in the first minute, then once a minute, and after
  /// ten minutes every ten.
  static func isDue(update number: Int) -> Bool {
    number <= 6 || number <= 60 && number.isMultiple(of: 6) || number.isMultiple(of: 60)
  }

  private func update() {
    let number = updates.withValue { number in
      number += 1
      return number
    }
    if style == .plain, !Self.isDue(update: number) { return }
    let line = ProgressLine(job.status(waitingLimit: 0), shown: console.terminal.shown)
    switch style {
    // The size is read every time, because the terminal may have been resized.
    case .bar: console.setBottom(line.bar(columns: console.terminal.size.columns - 1, console.terminal.charset))
    case .plain: console.print("thumbjob: \(line.figures)")
    }
  }
}

extension ProgressLine {
  /// - Parameter shown: gives a name the characters that can be shown, so that its width is right.
  init(_ status: JobStatus, shown: (String) -> String) {
    let tally = status.tally
    (pid, places) = (getpid(), status.queue.limits.maxConcurrentOperations)
    (done, found, total, failed) = (tally.done, tally.found, status.total, tally.failed)
    rate = Double(tally.made) / max(status.elapsed / .seconds(1), 0.001)
    if status.stopCause != nil {
      pause = "stopping"
    } else if !status.queue.pauses.isEmpty {
      pause = "\(status.queue.pauses)"
    } else if let first = status.awaited.first {
      pause = "waits for \(first.process > 0 ? "process \(first.process)" : "another process")"
    } else if let total, rate > 0, total > done, status.elapsed >= RunTimeLeft.patience {
      // The rate counts only the sources that were made, because the others take hardly any time.
      remaining = .seconds(RunTimeLeft.rounded(Double(total - done) / rate))
    }
    running = status.queue.running.compactMap { operation in
      guard let stage = operation.stage else { return nil }
      let percent = operation.fraction.map { " \(Int($0 * 100)) %" } ?? ""
      return "\(shown(Self.name(operation))) \(stage)\(percent)"
    }
  }

  /// The name of the source of an operation; the whole title if it has no source.
  private static func name(_ operation: OperationSnapshot) -> String {
    guard let path = operation.source else { return operation.title }
    return path.split(separator: "/").last.map(String.init) ?? path
  }
}
