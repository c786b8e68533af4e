import ArgumentParser
import JobSettings

/// The option for how many operations run at once, of every command that runs some.
struct MaxOption: ParsableArguments {
  @Option(
    name: [.long, .customShort("j", allowingJoined: true), .customLong("jobs")],
    help: ArgumentHelp("Operations running at once. (default: processors this process may use)", valueName: "n"))
  var max: Int?

  /// The value; nil for the default.
  ///
  /// - Throws: `TextError` if it is out of range.
  func checked() throws(TextError) -> Int? { try max?.checked(JobSettings.maxRange, for: "--max") }
}
