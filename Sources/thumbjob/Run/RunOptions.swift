import ArgumentParser
import Files
import MemoryPressure
import StatusEndpoint
import ThumbnailJobs
import Thumbnails

/// The options that determine the bytes of a thumbnail and its place.
struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("out")],
    help: "The folder for the thumbnails. (default: ./thumbs)")
  var out: String?

  @Option(
    name: [.customShort("s", allowingJoined: true), .long],
    help: ArgumentHelp(
      "W, WxH (a box), Wx or xH; ^ fills and crops, ! is exact, < may enlarge; name=SPEC names it; repeatable. "
        + "(default: 256)", valueName: "spec"))
  var size: [String] = []

  @Option(
    name: [.customShort("q", allowingJoined: true), .long],
    help: ArgumentHelp("JPEG quality, 1 to 100. (default: 80)", valueName: "n"))
  var quality: Int?

  @Flag(help: "Write progressive JPEG.")
  var progressive = false

  @Option(help: "Chroma subsampling: 420 or 444. (default: 420)")
  var subsample: ChromaSubsampling?

  @Option(help: ArgumentHelp("Metadata to keep: icc, exif, copyright, separated by commas.", valueName: "kinds"))
  var keep: [String] = []

  @Flag(help: "Resize in linear light: slower, right for fine bright patterns.")
  var linear = false

  func apply(to output: inout OutputSettings) throws(TextError) {
    if let out { output.folder = CommandWords.path(of: out) }
    if !size.isEmpty {
      output.sizes = []
      for text in size { output.sizes.append(try SizeSpec(parsing: text, for: "--size")) }
    }
    if let quality { output.quality = try quality.checked(JobSettings.qualityRange, for: "--quality") }
    if progressive { output.progressive = true }
    if let subsample { output.subsample = subsample }
    if !keep.isEmpty { output.keep = try KeptMetadata(words: keep, for: "--keep") }
    if linear { output.linear = true }
  }
}

/// The options that choose sources and determine how faulty ones are treated.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .customLong("files0-from"),
    help: ArgumentHelp("Read sources from a file, separated by NUL; - is standard input.", valueName: "file"))
  var files0From: String?

  @Option(help: ArgumentHelp("Read only files that match; repeatable.", valueName: "glob"))
  var include: [String] = []

  @Option(help: ArgumentHelp("Skip files and folders that match; repeatable.", valueName: "glob"))
  var exclude: [String] = []

  @Flag(help: "Follow symbolic links.")
  var follow = false

  @Flag(help: "Also make thumbnails that are up to date.")
  var force = false

  @Option(
    help: ArgumentHelp(
      "The mildest fault that fails a source: truncated (cut off), error (corrupt), warning (any flaw). "
        + "(default: error)", valueName: "level"))
  var failOn: FailOn?

  @Option(help: ArgumentHelp("The most pixels of a source: 500M, 1G. (default: 1G)", valueName: "n"))
  var limitPixels: String?

  @Option(help: ArgumentHelp("The most time for a source: 90s, 5m. (default: 5m)", valueName: "duration"))
  var timeout: String?

  @Option(help: ArgumentHelp("Try a source that failed this many times more. (default: 0)", valueName: "n"))
  var retries: Int?

  /// - Parameter words: the sources among the words of the command line.
  func apply(to job: inout JobSettings, words: [Path]) throws(TextError) {
    var sources = words.map { SourceArgument(word: $0) }
    if let files0From {
      let list: SourceList =
        files0From == "-"
        ? .standardInput(.nul) : SourceList(file: CommandWords.path(of: files0From), separator: .nul)
      sources.append(.list(list))
    }
    if !sources.isEmpty { job.sources = sources }
    if !include.isEmpty { job.filter.includes = try Self.globs(include) }
    if !exclude.isEmpty { job.filter.excludes = try Self.globs(exclude) }
    if follow { job.followsLinks = true }
    if force { job.force = true }
    if let failOn { job.failOn = failOn }
    if let limitPixels { job.limitPixels = try PixelCount.parse(limitPixels, for: "--limit-pixels") }
    if let timeout { job.timeout = try DurationText.parse(timeout, for: "--timeout") }
    if let retries { job.retries = try retries.checked(JobSettings.retriesRange, for: "--retries") }
  }

  private static func globs(_ texts: [String]) throws(TextError) -> [Glob] {
    var globs: [Glob] = []
    for text in texts {
      do throws(GlobError) {
        globs.append(try Glob(bytes: CommandWords.bytes(of: text)))
      } catch {
        throw TextError(error.description)
      }
    }
    return globs
  }
}

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

extension Int {
  /// - Throws: `TextError` that names the option if the number is not in `range`.
  func checked(_ range: ClosedRange<Int>, for option: String) throws(TextError) -> Int {
    if range.contains(self) { return self }
    throw TextError("\(option): \(self) is not within \(range.lowerBound) to \(range.upperBound)")
  }
}

extension ChromaSubsampling: ExpressibleByArgument {}
extension FailOn: ExpressibleByArgument {}
extension PressureResponse: ExpressibleByArgument {}
extension PressureSignalChoice: ExpressibleByArgument {}
extension ProgressStyle: ExpressibleByArgument {}
