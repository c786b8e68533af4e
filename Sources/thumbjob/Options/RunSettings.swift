import Fetching
import Files
import Foundation
import JobSettings
import Sourcing
import StatusEndpoint

/// All settings of `thumbjob run`: those of its job, and those of the command around it.
///
/// A job file changes the defaults first, the command line second.
struct RunSettings: Equatable {
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
  /// Where to serve the status besides the private socket; nil means nowhere else.
  var status: StatusAddress?
  /// The time between two walks of a watch over all folders; nil to wait for changes. A run has none.
  var poll: Duration?

  /// The keys that a job file may have.
  static let jobFileKeys: [JobFileKey<RunSettings>] =
    JobFileKey.job(\.job) + [
      .flag("json", \.json),
      .word("progress", \.progress),
      .text("status", \.status) { text, key throws(TextError) in try parseStatusAddress(text, for: key) },
      .path("trace", \.trace),
      .flag("verbose", \.verbose),
      .flag("quiet", \.quiet),
      .text("poll", \.poll) { text, key throws(TextError) in try DurationText.parse(text, for: key) },
    ]

  /// - Parameter subject: the option or key that the error names.
  static func parseStatusAddress(_ text: String, for subject: String) throws(TextError) -> StatusAddress {
    do {
      return try StatusAddress(text)
    } catch {
      throw TextError("\(subject): “\(printableText(of: Array(text.utf8)))” is not an address: \(error.reason)")
    }
  }

  /// - Throws: `TextError` if settings that are valid by themselves contradict each other.
  func validate() throws(TextError) {
    if verbose && quiet { throw TextError(in: "quiet", "cannot be asked for together with verbose") }
    try job.validate()
    guard job.watch != nil else { return }
    if progress != .auto { throw TextError(in: "progress", "a watch has no end to show the way to") }
    if trace != nil { throw TextError(in: "trace", "a watch has no end, and its trace would grow for ever") }
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
