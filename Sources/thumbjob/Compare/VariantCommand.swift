import ArgumentParser
import Comparison
import ThumbnailJobs

/// `thumbjob compare-variant`: one variant of a comparison, which `compare` starts as a process of its own. It reads
/// the list of sources from standard input, and writes messages for `compare` to standard output.
struct VariantCommand: ParsableCommand, SignalAnswering {
  static let name = "compare-variant"
  static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

  @Argument var variant: Variant
  @Option var out: String
  @Option var within: String
  @Option var max: Int
  @Option var naive: NaivePayload
  @Option var group: String?
  @Option var addressSpace: Int?

  func run() throws { throw VariantSession(self).run() }
}
