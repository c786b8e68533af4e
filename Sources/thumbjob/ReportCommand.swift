import ArgumentParser
import Files
import Foundation
import TraceRecording

/// `thumbjob report`: evaluates a trace.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Evaluates the trace of a run.",
    usage: "thumbjob report --threads <file>")

  @Option(
    help: ArgumentHelp(
      "Print which methods ran on which threads, from a trace that run --trace has written. Data that a method on "
        + "several threads uses is shared.", valueName: "file"),
    completion: .file())
  var threads: String

  func run() throws {
    do {
      let report = try ThreadReport(path: threads)
      try StandardStream.put(ThreadTable.text(report))
    } catch let error as TraceError {
      Console().print("thumbjob: \(error)")
      throw ExitStatus.noSuchSource.code
    } catch let error as NotATraceError {
      Console().print("thumbjob: \(error); thumbjob SOURCE --trace FILE writes one")
      throw ExitStatus.jobFileInvalid.code
    }
  }
}

/// Formats a thread report as a table.
enum ThreadTable {
  static func text(_ report: ThreadReport) -> String {
    var rows = [["METHOD", "CALLS", "MS", "THREADS", "KIND"]]
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
