import ArgumentParser
import Files
import Foundation
import JobSettings

/// `thumbjob checksum`: reads the options. `RunSession` does the work, as it does for `run`.
struct ChecksumCommand: ParsableCommand, SignalHandlingCommand {
  static let configuration = CommandConfiguration(
    commandName: "checksum",
    abstract: "Computes the SHA-256 checksums of files, as sha256sum does.",
    usage: "thumbjob checksum <source> ... [--into <file>] [options]",
    discussion: """
      Every file of the sources has a line, which sha256sum -c can check: on standard output as soon as it is made, or in \
      FILE with --into. FILE is written at the end, in the order of the names, whole or not at all. The next run with \
      the same FILE reads only what has changed.

      These options of run are refused: --fail-on, --fetch, --isolate, --known-failures, --limit-pixels, --prune, --retry-failed and --verify.
      """)

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, an https:// URL, an object or folder in S3 (s3://bucket/key), or - for paths and "
        + "URLs on standard input, one per line.", valueName: "source"),
    completion: .file())
  var words: [String] = []

  @Option(
    help: ArgumentHelp(
      "The file for the list of all checksums; with --shard I/N, FILE.I-of-N. (default: standard output)",
      valueName: "file"),
    completion: .file())
  var into: String?

  @OptionGroup(title: "Sources") var sources: SettingOptions<SourceGroup>
  @OptionGroup(title: "Sources from the network") var network: SettingOptions<NetworkGroup>
  @OptionGroup(title: "Running") var running: SettingOptions<RunningGroup>

  func run() throws { throw try RunSession.run(readSettings) }

  private func readSettings() throws -> RunSettings {
    try refuseOthers()
    var settings = RunSettings()
    settings.job.outputs = []
    settings.job.kind = ChecksumSettings(file: into.map { CommandWords.path(of: $0) })
    try settings.apply(words.flatMap { CommandWords.paths(of: $0) }, sources)
    try network.apply(to: &settings)
    try running.apply(to: &settings)
    try settings.validate()
    if settings.job.sources.isEmpty {
      throw TextError("no source given: name a folder, such as thumbjob checksum ./images --into SHA256SUMS")
    }
    try settings.job.resolveLists(in: ProcessInfo.processInfo.environment)
    return settings
  }

  /// - Throws: `TextError` if an option is given that has a meaning only for thumbnails.
  private func refuseOthers() throws(TextError) {
    let isGiven: (String) -> Bool = { [self] in sources.gives($0) || network.gives($0) || running.gives($0) }
    let others = ["fail-on", "fetch", "isolate", "known-failures", "limit-pixels", "prune", "retry-failed", "verify"]
    guard let option = others.first(where: isGiven) else { return }
    throw TextError("--\(option): has no meaning for checksums; leave it out")
  }
}
