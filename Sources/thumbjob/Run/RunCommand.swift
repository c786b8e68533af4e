import ArgumentParser
import Files
import Foundation
import JobSettings
import Sourcing

/// `thumbjob run`, which is also the default: reads the options. `RunSession` does the work.
struct RunCommand: Subcommand {
  static let name = "run"
  static let handlesSignals = true
  static let configuration = CommandConfiguration(
    commandName: name,
    // With the name of a parent, the parser does not look for a request for completions here. Looking takes 2 ms.
    _superCommandName: "thumbjob",
    abstract: "Makes JPEG thumbnails of whole folders with a queue that never piles up.",
    usage: "thumbjob [run] <source> ... [options]")

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, an https:// URL, an object or folder in S3 (s3://bucket/key), a job file "
        + "(*.yml), or - for paths and URLs on standard input, one per line.",
      valueName: "source"),
    completion: .file(extensions: PictureNames.usual + ["yml", "yaml"]))
  var words: [String] = []

  @OptionGroup(title: "Thumbnails") var thumbnails: SettingOptions<ThumbnailGroup>
  @OptionGroup(title: "Of all thumbnails") var joins: SettingOptions<JoinGroup>
  @OptionGroup(title: "Sources") var sources: SettingOptions<SourceGroup>
  @OptionGroup(title: "Sources from the network") var network: SettingOptions<NetworkGroup>
  @OptionGroup(title: "Running") var running: SettingOptions<RunningGroup>

  /// Printed by the root command, which knows all commands.
  @Flag(help: "Show every option of every command.") var helpAll = false

  func run() throws {
    throw try RunSession.run(readSettings)
  }

  /// The defaults, changed by the job file and then by the command line.
  ///
  /// - Throws: `JobFileError` or `TextError`, depending on which of the two is wrong.
  func readSettings() throws -> RunSettings {
    try RunSettings.read(words, sources.given + network.given + thumbnails.given + joins.given + running.given)
  }
}

extension PictureNames {
  /// The usual extensions of pictures, for completions. A file is recognised by its content.
  static let usual = jpeg + others
}
