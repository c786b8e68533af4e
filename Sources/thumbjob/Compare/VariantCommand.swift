import ArgumentParser
import Comparison
import Files
import JobSettings

/// `thumbjob compare-variant`: one variant of a comparison, which `compare` starts as a process of its own. It reads
/// the list of sources from standard input, and writes messages for `compare` to standard output.
struct VariantCommand: Subcommand {
  static let handlesSignals = true
  static let name = "compare-variant"
  static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

  @Argument var variant: Variant
  @Option var out: String
  @Option var within: String
  @Option var max: Int
  @OptionGroup var encoding: SettingOptions<EncodingGroup>
  @Option var group: String?
  @Option var addressSpace: Int?

  func run() throws {
    var run = RunSettings()
    try encoding.given.apply(to: &run)
    var output = run.job.outputs[0]
    output.folder = CommandWords.path(of: out)
    let settings = VariantSettings(
      variant: variant, output: output, working: CommandWords.path(of: within), max: max, group: group,
      addressSpace: addressSpace)
    throw VariantSession(settings).run()
  }
}

/// The settings of one variant.
struct VariantSettings {
  let variant: Variant
  /// The thumbnails and their folder.
  let output: OutputSettings
  /// The temporary folder of the comparison, which this process removes after the death of `compare`.
  let working: Path
  let max: Int
  /// The folder of the memory cgroup to join; nil for none.
  let group: String?
  /// The limit on address space in bytes; nil for none.
  let addressSpace: Int?
}
