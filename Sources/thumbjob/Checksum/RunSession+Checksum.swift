import Files
import Jobs

extension RunSettings {
  /// Whether lines of data go to standard output while the job runs.
  var printsData: Bool { json || job.dryRun || job.checksums != nil && job.checksumFile == nil }
}

// Checksums: what is printed of each source.
extension RunSession {
  /// Prints the line of a source, unless a list collects the lines, or JSON lines tell them. A dry run prints the names of the
  /// files that it would read.
  func printChecksum(_ report: SourceReport, _ name: String) {
    if settings.job.dryRun {
      if !settings.json, !output.write(plain: name) { stopForLostOutput() }
    } else if let digest = report.digest {
      if settings.job.checksumFile != nil {
        if settings.verbose { messages.printLine("\(digest)  \(name)") }
      } else if !settings.json {
        // On a terminal, a name must not change the terminal.
        let isWritten =
          output.isTerminal
          ? output.write(plain: "\(digest)  \(name)")
          : output.write(bytes: ChecksumLine(digest, report.source.path).bytes)
        if !isWritten { stopForLostOutput() }
      }
    }
  }
}
