import Files
import JobSettings
import Jobs

extension RunSettings {
  /// Whether lines of data go to standard output while the job runs.
  var printsData: Bool { json || job.dryRun || job.places.isEmpty }
}

// Kinds of jobs whose results are lines: what is printed of each source.
extension RunSession {
  /// Prints the line of a source, unless it goes to another place, or JSON lines tell it. A dry run prints the names of the
  /// sources that it would read.
  func printLine(_ report: SourceReport, _ name: String) {
    if settings.job.dryRun {
      if !settings.json, !output.write(plain: name) { stopForLostOutput() }
    } else if let line = report.line {
      if !settings.job.places.isEmpty {
        if settings.verbose { messages.printLine(line.text) }
      } else if !settings.json {
        // On a terminal, a name must not change the terminal.
        let isWritten = output.isTerminal ? output.write(plain: line.text) : output.write(bytes: line.bytes)
        if !isWritten { stopForLostOutput() }
      }
    }
  }
}
