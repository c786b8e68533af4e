import ArgumentParser
import Files
import JobSettings

/// `thumbjob watch`: reads the options. `RunSession` does the work, as it does for `run`.
struct WatchCommand: Subcommand {
  private static let refused = RunSettings.refusedByWatch.map { "--\($0)" }

  static let name = "watch"
  static let handlesSignals = true
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Keeps thumbnails up to date as files come and go.",
    usage: "thumbjob watch <folder> ... [options]",
    discussion: """
      It makes the thumbnails of everything in the folders, as run does, and then goes on until a signal ends it: files \
      are made once they are closed, and the thumbnails of files that are removed or moved away are removed.

      These options of run are refused: \(refused.dropLast().joined(separator: ", ")) and \(refused.last ?? "").
      """)

  @Argument(
    help: ArgumentHelp("A folder (with all below it), or a job file (*.yml) that names some.", valueName: "folder"),
    completion: .directory)
  var words: [String] = []

  @OptionGroup var polling: SettingOptions<PollGroup>
  @OptionGroup(title: "Thumbnails") var thumbnails: SettingOptions<WatchGroup<ThumbnailGroup>>
  @OptionGroup(title: "Sources") var sources: SettingOptions<WatchGroup<SourceGroup>>
  @OptionGroup(title: "Running") var running: SettingOptions<WatchGroup<RunningGroup>>
  @OptionGroup var joins: SettingOptions<WatchGroup<JoinGroup>>

  func run() throws {
    let options = sources.given + thumbnails.given + running.given + joins.given + polling.given
    throw try RunSession.run {
      try RunSettings.read(words, options) { settings in
        var watch = WatchSettings()
        watch.poll = settings.poll
        settings.job.watch = watch
      }
    }
  }
}
