import ArgumentParser
import MemoryPressure
import ThumbnailJobs

/// The options that limit a run and show its progress.
struct RunOptions: ParsableArguments {
  @Option(
    name: [.long, .customShort("j", allowingJoined: true), .customLong("jobs")],
    help: ArgumentHelp("Operations running at once. (default: processors this process may use)", valueName: "n"))
  var max: Int?

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
      "What to do at critical memory: requeue (cancel and make again later), cancel, pause or ignore. "
        + "(default: requeue)", valueName: "response"))
  var onPressure: PressureResponse?

  @Option(
    help: ArgumentHelp(
      "The signal of memory pressure: auto, systemd, cgroup2, cgroup1, psi, rss or off. (default: auto)",
      valueName: "name"))
  var pressureSource: PressureSignalChoice?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Start nothing new after this time; exit status 75 if work remains.", valueName: "duration"))
  var duration: String?

  @Option(help: ArgumentHelp("Stop after n failures, or when n% of the sources fail.", valueName: "n or n%"))
  var halt: String?

  @Flag(name: .customLong("dry-run"), help: "Print what would be made, and make nothing.")
  var dryRun = false

  @Flag(help: "Write a JSON line for each source that is not up to date, then a summary, to standard output.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Show progress: auto, bar, plain or none. (default: auto: a bar on a terminal)", valueName: "style"))
  var progress: ProgressStyle?

  @Option(
    help: ArgumentHelp(
      "Write a trace of operations, threads and counters that Perfetto opens.", valueName: "file"))
  var trace: String?

  @Option(
    help: ArgumentHelp(
      "Also serve the status at unix:PATH or HOST:PORT; off: not even on the private socket.",
      valueName: "address"))
  var status: String?

  @Flag(name: .shortAndLong, help: "Print the name of every thumbnail.")
  var verbose = false

  @Flag(help: "Print only failures.")
  var quiet = false

  func apply(to settings: inout RunSettings) throws(TextError) {
    try apply(to: &settings.job)
    if json { settings.json = true }
    if let progress { settings.progress = progress }
    if let status { settings.status = try RunSettings.parseStatusAddress(status, for: "--status") }
    if let trace { settings.trace = CommandWords.path(of: trace) }
    if verbose { settings.verbose = true }
    if quiet { settings.quiet = true }
  }

  private func apply(to job: inout JobSettings) throws(TextError) {
    if let max { job.max = try max.checked(JobSettings.maxRange, for: "--max") }
    if let backlog { job.backlog = try backlog.checked(JobSettings.backlogRange, for: "--backlog") }
    if let memory { job.memory = try MemorySize(parsing: memory, for: "--memory") }
    if let onPressure { job.onPressure = onPressure }
    if let pressureSource { job.pressureSource = pressureSource }
    if let duration { job.runFor = try DurationText.parse(duration, for: "--for") }
    if let halt { job.halt = try HaltLimit(parsing: halt, for: "--halt") }
    if dryRun { job.dryRun = true }
  }
}

extension PressureResponse: ExpressibleByArgument {}
extension PressureSignalChoice: ExpressibleByArgument {}
extension ProgressStyle: ExpressibleByArgument {}
