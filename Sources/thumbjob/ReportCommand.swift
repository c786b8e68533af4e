import ArgumentParser
import Foundation
import TraceRecording

/// `thumbjob report`: what a run has left behind, read back.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Reads back what a run has recorded.",
    usage: "thumbjob report --threads <file>")

  @Option(
    help: ArgumentHelp(
      "Which methods ran on which threads, from a file that run --trace has written: what ran on several threads shares "
        + "what it touches.", valueName: "file"))
  var threads: String

  func run() throws {
    do {
      let report = try ThreadReport(path: threads)
      try StandardStream.put(ThreadTable.text(report))
    } catch let error as TraceError {
      Console().say("thumbjob: \(error)")
      throw ExitStatus.noSuchSource.code
    } catch let error as NotATraceError {
      Console().say("thumbjob: \(error)")
      throw ExitStatus.jobFileInvalid.code
    }
  }
}

/// A thread report as a table.
enum ThreadTable {
  static func text(_ report: ThreadReport) -> String {
    var rows = [["METHOD", "CALLS", "MS", "THREADS", "WHICH"]]
    rows += report.methods.map { method in
      [
        method.name, "\(method.calls)", Units.decimal(Double(method.microseconds) / 1000), "\(method.threads.count)",
        method.isSingleThreaded
          ? "single-thread (\(report.threadNames[method.threads[0]] ?? "?"))" : "multi-thread",
      ]
    }
    return Columns.text(rows, right: [1, 2, 3])
  }
}
