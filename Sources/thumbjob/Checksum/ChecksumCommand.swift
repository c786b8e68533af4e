import ArgumentParser
import JobSettings

/// `thumbjob checksum`: reads the options. `RunSession` does the work, as it does for `run`.
struct ChecksumCommand: Subcommand {
  static let name = "checksum"
  static let handlesSignals = true
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Computes the SHA-256 checksums of files, as sha256sum does.",
    usage: "thumbjob checksum <source> ... [--into <file>] [options]",
    discussion: """
      Every file of the sources has a line, which sha256sum -c can check: on standard output as soon as it is made, or in \
      FILE with --into. FILE is written at the end, in the order of the names, whole or not at all. The next run with \
      the same FILE reads only what has changed.

      \(OtherKindOptions.refusal)
      """)

  @Option(
    help: ArgumentHelp(
      "The file for the list of all checksums; with --shard I/N, FILE.I-of-N. (default: standard output)",
      valueName: "file"),
    completion: .file())
  var into: String?

  @OptionGroup var options: OtherKindOptions

  func run() throws {
    throw try RunSession.run {
      try options.settings(
        ChecksumSettings(file: into.map { CommandWords.path(of: $0) }),
        example: "thumbjob checksum ./images --into SHA256SUMS")
    }
  }
}
