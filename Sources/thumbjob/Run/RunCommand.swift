import ArgumentParser
import Files
import Foundation
import MemoryPressure
import StatusEndpoint
import ThumbnailJobs
import Thumbnails

/// `thumbjob run`, and `thumbjob` with nothing before its sources: what the options are. What is done with them is
/// `RunSession`'s affair.
struct RunCommand: ParsableCommand, SignalAnswering {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Makes JPEG thumbnails of whole folders with a queue that never piles up.",
    usage: "thumbjob [run] <source> ... [options]",
    discussion: Thumbjob.examples)

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, a job file (*.yml), or - for paths on standard input, a line each.",
      valueName: "source"))
  var sources: [String] = []

  @OptionGroup(title: "What is made") var making: MakingOptions
  @OptionGroup(title: "Which sources") var choosing: ChoosingOptions
  @OptionGroup(title: "How it runs") var running: RunningOptions

  func run() throws {
    let settings: JobSettings
    do {
      let (jobFiles, sources) = words()
      let (said, written) = (try overlay(sources), try jobFileOverlay(jobFiles))
      settings = try Self.settings(said, written, of: jobFiles.first)
      if settings.sources.isEmpty {
        if let jobFile = jobFiles.first {
          throw JobFileProblems(in: jobFile, "names no sources; say sources: ../images")
        }
        throw TextProblem("no source given: name a folder, such as thumbjob ./images, or see thumbjob --help")
      }
    } catch let problems as JobFileProblems {
      _ = StandardStream.write(problems.description + "\n", to: STDERR_FILENO)
      throw ExitStatus.jobFileInvalid.code
    } catch let problem as TextProblem {
      throw ValidationError(problem.description)
    }
    throw RunSession(settings).run()
  }

  /// - Throws: `JobFileProblems` where it is the job file's own words that do not go together.
  private static func settings(_ said: JobOverlay, _ written: JobOverlay, of jobFile: Path?) throws -> JobSettings {
    do throws(TextProblem) {
      return try JobSettings(said, written)
    } catch {
      guard let jobFile, (try? JobSettings(written)) == nil else { throw error }
      throw JobFileProblems(in: jobFile, error.description)
    }
  }

  /// Apart, because a job file is no source.
  private func words() -> (jobFiles: [Path], sources: [Path]) {
    let paths = sources.flatMap { CommandWords.paths(of: $0) }
    return (paths.filter { JobFile.isName($0) }, paths.filter { !JobFile.isName($0) })
  }

  private func jobFileOverlay(_ files: [Path]) throws -> JobOverlay {
    guard let first = files.first else { return JobOverlay() }
    if files.count > 1 {
      throw TextProblem("one job file at a time: \(files.prefix(3).map(\.printable).joined(separator: ", "))")
    }
    return try JobFile.read(first) { text in
      do throws(StatusAddressError) {
        _ = try StatusAddress(text)
        return nil
      } catch {
        return error.reason
      }
    }
  }

  /// What the command line says.
  private func overlay(_ sources: [Path]) throws -> JobOverlay {
    var said = JobOverlay()
    var arguments = sources.map { SourceArgument($0) }
    if let list = choosing.files0From {
      let file = list == "-" ? nil : CommandWords.path(of: list)
      arguments.append(.list(SourceList(from: file, separator: .nul)))
    }
    if !arguments.isEmpty { said.sources = arguments }
    try choosing.say(&said)
    try making.say(&said)
    try running.say(&said)
    return said
  }
}

/// The options that decide the bytes of a thumbnail and where it goes.
struct MakingOptions: ParsableArguments {
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

  @Option(help: ArgumentHelp("Metadata to keep: icc, exif, copyright, with commas between.", valueName: "kinds"))
  var keep: [String] = []

  @Flag(help: "Resize in linear light: slower, right for fine bright patterns.")
  var linear = false

  func say(_ said: inout JobOverlay) throws(TextProblem) {
    said.output.folder = out.map { CommandWords.path(of: $0) }
    if !size.isEmpty {
      var sizes: [SizeSpec] = []
      for text in size { sizes.append(try SizeSpec(parsing: text, for: "--size")) }
      said.output.sizes = sizes
    }
    if let quality { said.output.quality = try ChoosingOptions.number(quality, JobSettings.qualityRange, "--quality") }
    if progressive { said.output.progressive = true }
    said.output.subsample = subsample
    if !keep.isEmpty { said.output.keep = try KeptMetadata(words: keep, for: "--keep") }
    if linear { said.output.linear = true }
  }
}

/// The options that choose among sources, and how broken one may be.
struct ChoosingOptions: ParsableArguments {
  @Option(
    name: .customLong("files0-from"),
    help: ArgumentHelp("Read sources from a file, separated by NUL; - is standard input.", valueName: "file"))
  var files0From: String?

  @Option(help: ArgumentHelp("Take only files that match; repeatable.", valueName: "glob"))
  var include: [String] = []

  @Option(help: ArgumentHelp("Pass over files and folders that match; repeatable.", valueName: "glob"))
  var exclude: [String] = []

  @Flag(help: "Follow symbolic links.")
  var follow = false

  @Flag(help: "Make again what is up to date.")
  var force = false

  @Option(
    help: ArgumentHelp(
      "Refuse a source that is: truncated (cut off), error (also corrupt), warning (not flawless). (default: error)",
      valueName: "level"))
  var failOn: FailOn?

  @Option(help: ArgumentHelp("The most pixels of a source: 500M, 1G. (default: 1G)", valueName: "n"))
  var limitPixels: String?

  @Option(help: ArgumentHelp("The most time for a source: 90s, 5m. (default: 5m)", valueName: "duration"))
  var timeout: String?

  @Option(help: ArgumentHelp("Try a source that failed this many times more. (default: 0)", valueName: "n"))
  var retries: Int?

  func say(_ said: inout JobOverlay) throws {
    if !include.isEmpty { said.includes = try include.map { try Glob(bytes: CommandWords.bytes(of: $0)) } }
    if !exclude.isEmpty { said.excludes = try exclude.map { try Glob(bytes: CommandWords.bytes(of: $0)) } }
    if follow { said.followsLinks = true }
    if force { said.force = true }
    said.failOn = failOn
    said.limitPixels = try limitPixels.map { try PixelCount.parse($0, for: "--limit-pixels") }
    said.timeout = try timeout.map { try DurationText.parse($0, for: "--timeout") }
    said.retries = try retries.map { try Self.number($0, JobSettings.retriesRange, "--retries") }
  }

  static func number(_ value: Int, _ range: ClosedRange<Int>, _ option: String) throws(TextProblem) -> Int {
    guard range.contains(value) else {
      throw TextProblem("\(option): \(value) is not within \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }
}

/// The options that bound and show the run.
struct RunningOptions: ParsableArguments {
  @Option(
    name: [.long, .customShort("j", allowingJoined: true), .customLong("jobs")],
    help: ArgumentHelp("Operations running at once. (default: processors this process may use)", valueName: "n"))
  var max: Int?

  @Option(help: ArgumentHelp("Operations waiting; the walk waits while it is full. (default: 4 × max)", valueName: "n"))
  var backlog: Int?

  @Option(
    help: ArgumentHelp(
      "Memory that running operations may hold together: 256M, 1G, 25%. (default: half of what is free less a reserve, at most 1G)",
      valueName: "size"))
  var memory: String?

  @Option(
    help: ArgumentHelp(
      "When memory gets critical: requeue (cancel and do again), cancel, pause or ignore. (default: requeue)",
      valueName: "what"))
  var onPressure: PressureResponse?

  @Option(
    help: ArgumentHelp(
      "Where to hear of it: auto, systemd, cgroup2, cgroup1, psi, rss or off. (default: auto)", valueName: "name"))
  var pressureSource: PressureSignalChoice?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Start nothing new after this time; exit status 75 if work remains.", valueName: "duration"))
  var duration: String?

  @Option(help: ArgumentHelp("Stop after n failures, or when n% of the sources fail.", valueName: "n or n%"))
  var halt: String?

  @Flag(name: .customLong("dry-run"), help: "Say what would be made, and make nothing.")
  var dryRun = false

  @Flag(help: "Write a line of JSON for each source and a last summary to standard output.")
  var json = false

  @Option(help: ArgumentHelp("auto, bar, plain or none. (default: auto: a bar on a terminal)", valueName: "style"))
  var progress: ProgressStyle?

  @Option(
    help: ArgumentHelp(
      "Write a trace of the run that Perfetto opens: operations, threads, counters.", valueName: "file"))
  var trace: String?

  @Option(
    help: ArgumentHelp(
      "Where the run can be asked besides its private socket: unix:PATH or HOST:PORT; off is nowhere at all.",
      valueName: "address"))
  var status: String?

  @Flag(name: .shortAndLong, help: "Name every thumbnail made.")
  var verbose = false

  @Flag(help: "Name only what failed.")
  var quiet = false

  func say(_ said: inout JobOverlay) throws {
    said.max = try max.map { try ChoosingOptions.number($0, JobSettings.maxRange, "--max") }
    said.backlog = try backlog.map { try ChoosingOptions.number($0, JobSettings.backlogRange, "--backlog") }
    said.memory = try memory.map { try MemorySize(parsing: $0, for: "--memory") }
    said.onPressure = onPressure
    said.pressureSource = pressureSource
    said.runFor = try duration.map { try DurationText.parse($0, for: "--for") }
    said.halt = try halt.map { try HaltLimit(parsing: $0, for: "--halt") }
    if dryRun { said.dryRun = true }
    if json { said.json = true }
    said.progress = progress
    said.status = status
    said.trace = trace.map { CommandWords.path(of: $0) }
    if verbose { said.verbose = true }
    if quiet { said.quiet = true }
  }
}

extension ChromaSubsampling: ExpressibleByArgument {}
extension FailOn: ExpressibleByArgument {}
extension PressureResponse: ExpressibleByArgument {}
extension PressureSignalChoice: ExpressibleByArgument {}
extension ProgressStyle: ExpressibleByArgument {}
