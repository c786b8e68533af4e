import ArgumentParser
import JobSettings
import MemoryPressure

/// The options that limit a run and show its progress.
struct RunOptions: ParsableArguments {
  @OptionGroup var maximum: MaxOption

  @Option(
    help: ArgumentHelp("Operations waiting; the walk pauses at this number. (default: 4 × max)", valueName: "n"))
  var backlog: Int?

  @Option(
    help: ArgumentHelp(
      "Memory for all running operations together: 256M, 1G, 25%. (default: half of the free memory less a reserve, at most 1G)",
      valueName: "size"))
  var memory: String?

  @Option(
    help: ArgumentHelp(
      "What to do at critical memory; requeue cancels operations and makes them again later. (default: requeue)",
      valueName: "response"))
  var onPressure: PressureResponse?

  @Option(
    help: ArgumentHelp(
      "The signal of memory pressure; auto is the first that works. (default: auto)", valueName: "name"))
  var pressureSource: PressureSignalChoice?

  @Flag(help: "Wait for the disk after each thumbnail, so that none of this run is lost if the system crashes.")
  var durable = false

  @Option(
    help: ArgumentHelp(
      "Remove the thumbnails of sources and sizes that are gone; on a terminal it asks first. --prune=all also if they are "
        + "more than half of a folder, --prune=force also if a folder is another one than before.",
      valueName: "extent"))
  var prune: PruneMode?

  @Flag(
    help: ArgumentHelp(
      "Write a JSON line for each source that is not up to date, then a summary, to standard output."))
  var json = false

  @Option(
    help: ArgumentHelp(
      "Also serve the status at unix:PATH or HOST:PORT; off: not even on the private socket.",
      valueName: "address"),
    completion: .list(["off", "127.0.0.1:8080"]))
  var status: String?

  @Flag(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Print the names and warnings of all thumbnails, each file passed over, the signal of memory pressure, and at the "
        + "end the peaks beside their limits."))
  var verbose = false

  @Flag(help: "Print only failures and warnings.")
  var quiet = false

  func apply(to settings: inout RunSettings) throws(TextError) {
    try apply(to: &settings.job)
    if json { settings.json = true }
    if let status { settings.status = try RunSettings.parseStatusAddress(status, for: "--status") }
    // Either overrides the other in a job file.
    if verbose || quiet { (settings.verbose, settings.quiet) = (verbose, quiet) }
  }

  private func apply(to job: inout JobSettings) throws(TextError) {
    if let max = try maximum.checked() { job.max = max }
    if let backlog { job.backlog = try backlog.checked(JobSettings.backlogRange, for: "--backlog") }
    if let memory { job.memory = try MemorySize(parsing: memory, for: "--memory") }
    if let onPressure { job.onPressure = onPressure }
    if let pressureSource { job.pressureSource = pressureSource }
    if durable { job.durable = true }
    if let prune { job.prune = prune }
  }
}

extension PressureResponse: ExpressibleByArgument {}
extension PruneMode: ExpressibleByArgument {}
extension PressureSignalChoice: ExpressibleByArgument {}
