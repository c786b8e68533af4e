import ArgumentParser
import Files
import JobSettings
import Sourcing

/// `thumbjob watch`: reads the options. `RunSession` does the work, as it does for `run`.
struct WatchCommand: ParsableCommand, SignalHandlingCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Keeps thumbnails up to date as files come and go.",
    usage: "thumbjob watch <folder> ... [options]",
    discussion: """
      It makes the thumbnails of everything in the folders, as run does, and then goes on until a signal ends it: files \
      are made once they are closed, and the thumbnails of files that are removed or moved away are removed.

      These options of run are refused: --contact-sheet, --dry-run, --files0-from, --for, --force, --halt, --html, --manifest, \
      --name, --progress, --shard and --trace.
      """)

  @Argument(
    help: ArgumentHelp("A folder (with all below it), or a job file (*.yml) that names some.", valueName: "folder"),
    completion: .directory)
  var words: [String] = []

  @Option(
    help: ArgumentHelp(
      "Look for changes every so often, such as 30s, instead of waiting until the system reports them. (default: only on "
        + "network file systems, every 10 s)", valueName: "duration"))
  var poll: String?

  @OptionGroup(title: "Thumbnails") var output: OutputOptions
  @OptionGroup(title: "Sources") var source: SourceOptions
  @OptionGroup(title: "Running") var options: RunOptions
  @OptionGroup(visibility: .hidden) var endingOutput: EndingOptions.Output
  @OptionGroup(visibility: .hidden) var endingSource: EndingOptions.Source
  @OptionGroup(visibility: .hidden) var endingRun: EndingOptions.Run
  @OptionGroup(visibility: .hidden) var joins: JoinOptions

  func run() throws {
    throw try RunSession.run { try RunSettings.read(words, apply: apply) }
  }

  private func apply(to settings: inout RunSettings, paths: [Path]) throws(TextError) {
    try source.apply(to: &settings.job, words: paths, list: endingSource.list)
    try endingSource.apply(to: &settings.job)
    for index in settings.job.outputs.indices {
      try output.apply(to: &settings.job.outputs[index])
      try endingOutput.apply(to: &settings.job.outputs[index])
    }
    try options.apply(to: &settings)
    try endingRun.apply(to: &settings)
    try joins.apply(to: &settings.job.joins)
    var watch = WatchSettings()
    if let poll { settings.poll = try DurationText.parse(poll, for: "--poll") }
    watch.poll = settings.poll
    settings.job.watch = watch
  }
}
