import AccessRecording
import Files

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
