import ArgumentParser
import Comparison
import ThumbnailJobs

/// One variant of a comparison: what `compare` starts as a process of its own. It finds the list of sources at descriptor 3,
/// tells how far it is at descriptor 4, and prints nothing.
struct VariantCommand: ParsableCommand, SignalHandlingCommand {
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
