import Fetching
import Files
import Foundation
import JobSettings
import Sourcing
import StatusEndpoint

/// All settings of `thumbjob run`: those of its job, and those of the command around it.
///
/// A job file changes the defaults first, the command line second.
struct RunSettings: Equatable, DefaultSettings {
  var job = {
    var job = JobSettings()
    job.program = Version.current
    return job
  }()
  /// Print events as JSON lines to standard output.
  var json = false
  var progress = ProgressStyle.auto
  /// Print the name of every thumbnail.
  var verbose = false
  /// Print nothing but failures.
  var quiet = false
  /// The file for a trace; nil means none.
  var trace: Path?
  /// The file for the metrics of the run, once it has ended; nil means none.
  var metricsFile: Path?
  /// Where to serve the status besides the private socket; nil means nowhere else.
  var status: StatusAddress?
  /// The time between two walks of a watch over all folders; nil to wait for changes. A run has none.
  var poll: Duration?

  /// The settings of the command around the job, but for ``pollSetting``.
  static let ownSettings: [Setting<RunSettings>] = [
    Setting(
      "json", \.json, .flag,
      "Write a JSON line for each source that is not up to date, then a summary, to standard output."),
    Setting(
      "status", \.status, .status, value: "address",
      "Also serve the status at unix:PATH or HOST:PORT; off: not even on the private socket.",
      completion: .words(["off", "127.0.0.1:8080"])),
    Setting(
      "verbose", letter: "v", \.verbose, .flag,
      "Print the names and warnings of all thumbnails, each file passed over, the signal of memory pressure, and at the "
        + "end the peaks beside their limits.", overriding: \RunSettings.quiet),
    quietSetting,
    Setting(
      "progress", \.progress, .word, value: "style", "How to show progress; auto is a bar on a terminal.",
      refusedByWatch: "a watch has no end to show the way to"),
    Setting(
      "trace", \.trace, .path, value: "file",
      "Write a trace of operations, threads and counters that Perfetto opens.", completion: .file(extensions: []),
      refusedByWatch: "a watch has no end, and its trace would grow for ever"),
    Setting(
      "metrics-file", \.metricsFile, .path, value: "file",
      "At the end, write figures of the run for the textfile collector of Prometheus's node_exporter, with the time of the "
        + "last success.", completion: .file(extensions: ["prom"]),
      refusedByWatch: "a watch has no end; its status address has /metrics"),
  ]

  static let quietSetting = Setting<RunSettings>(
    "quiet", \.quiet, .flag, "Print only failures and warnings.", overriding: \RunSettings.verbose)

  static let pollSetting = Setting<RunSettings>(
    "poll", \.poll, .duration, value: "duration",
    "Look for changes every so often, such as 30s, instead of waiting until the system reports them.",
    default: "only on network file systems, every \(WatchSettings.usualPoll.components.seconds) s")

  /// The keys that a job file may have.
  static let jobFileKeys: [JobFileKey<RunSettings>] =
    JobFileKey.job(\.job) + (ownSettings + [pollSetting]).map { JobFileKey($0) }

  /// The settings that a watch refuses, by name.
  static var refusedByWatch: [String] {
    let settings = ThumbnailGroup.settings + JoinGroup.settings + SourceGroup.settings + RunningGroup.settings
    return settings.map(\.info).filter { $0.watchRefusal != nil }.map(\.name).sorted()
  }

  /// - Throws: `TextError` if settings that are valid by themselves contradict each other.
  func validate() throws(TextError) {
    if let metricsFile, !metricsFile.hasEnding(Array(".prom".utf8), inAnyCase: false) {
      throw TextError(
        in: "metrics-file", "\(metricsFile.printable): node_exporter reads only files that end in .prom; name it so")
    }
    if verbose && quiet { throw TextError(in: "quiet", "cannot be asked for together with verbose") }
    try job.validate()
    try BuildTrait.endpoint.require("status", if: status != nil && status != .off)
    guard job.watch != nil else { return }
    for setting in Self.ownSettings { try setting.checkWatch(self) }
  }

  /// Changes the settings by the words of a command line: the sources, unless there are none, and by its options.
  ///
  /// - Parameter options: may add a list of sources, which then follows the words.
  mutating func apply(_ words: [Path], _ options: GivenOptions<RunSettings>) throws(TextError) {
    if !words.isEmpty || options.gives(JobSettings.listSetting.info.name) { job.sources = [] }
    for word in words { job.sources.append(try SourceArgument(word: word)) }
    try options.apply(to: &self)
  }
}

/// How a run shows its progress.
enum ProgressStyle: String, CaseIterable {
  /// A bar on a terminal, otherwise plain lines.
  case auto
  case bar
  case plain
  case none
}

extension SourceArgument {
  /// The meaning of a word of the command line: `-` is a list on standard input with a line for each path, anything else a
  /// URL or a path.
  init(word: Path) throws(TextError) {
    if word == "-" {
      self = .list(.standardInput(.newline))
      return
    }
    do throws(RemoteURLError) { self = try SourceArgument(word) } catch { throw TextError("\(error)") }
  }

  /// The meaning of a word of a command that reads only files.
  ///
  /// - Parameter way: what to do instead of naming a URL.
  init(local word: Path, way: String) throws(TextError) {
    if word.isURL { throw TextError("\(RemoteAddress.printable(word.bytes)) is a URL; \(way)") }
    try self.init(word: word)
  }
}

extension SourceList {
  static func standardInput(_ separator: Separator) -> SourceList {
    SourceList(descriptor: STDIN_FILENO, name: "standard input", separator: separator)
  }
}
