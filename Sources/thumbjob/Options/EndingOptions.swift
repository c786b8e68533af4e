import ArgumentParser
import JobSettings
import Sourcing

/// The options that suit only a run that ends. A watch hides them in its help, and says why it refuses each.
enum EndingOptions {
  /// Those that determine the place of a thumbnail.
  struct Output: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "Names thumbnails by a pattern instead of mirroring: %s name, %e extension, %d folder, %w and %h the size's box. "
          + "'%d/%s-small' with --out FOLDER puts them beside the photos of FOLDER.", valueName: "pattern"))
    var name: String?

    func apply(to output: inout OutputSettings) throws(TextError) {
      if let name { output.name = try NamePattern(parsing: name, for: "--name") }
    }
  }

  /// Those that choose sources.
  struct Source: ParsableArguments {
    @Option(
      name: .customLong("files0-from"),
      help: ArgumentHelp(
        "Read sources from a file, separated by NUL; - is standard input; with --shard, the folder of thumbjob split.",
        valueName: "file"),
      completion: .file())
    var files0From: String?

    @Option(
      help: ArgumentHelp(
        "Make share I of N, by a hash of the paths; I from 0. auto takes I and N from the scheduler, auto/N only I. With "
          + "--files0-from and the folder of a split, make list I.",
        valueName: "I/N"))
    var shard: String?

    @Flag(help: "Also make thumbnails that are up to date.")
    var force = false

    /// The list of sources; nil if none is given.
    var list: SourceList? {
      files0From.map {
        $0 == "-" ? .standardInput(.nul) : SourceList(file: CommandWords.path(of: $0), separator: .nul)
      }
    }

    func apply(to job: inout JobSettings) throws(TextError) {
      if let shard { job.shardChoice = try ShardChoice(parsing: shard, for: "--shard") }
      if force { job.force = true }
    }
  }

  /// Those that limit the run and show its progress.
  struct Run: ParsableArguments {
    @Option(
      name: .customLong("for"),
      help: ArgumentHelp("Start nothing new after this time; exit status 75 if work remains.", valueName: "duration"))
    var duration: String?

    @Option(
      help: ArgumentHelp(
        "Stop after n failures, or once at least ten sources are done and n% of them have failed.",
        valueName: "n or n%"))
    var halt: String?

    @Flag(
      name: .customLong("dry-run"),
      help: "Print what would be made, and with --prune what would be removed; change nothing.")
    var dryRun = false

    @Option(
      help: ArgumentHelp(
        "How to show progress; auto is a bar on a terminal. (default: auto)", valueName: "style"))
    var progress: ProgressStyle?

    @Option(
      help: ArgumentHelp(
        "Write a trace of operations, threads and counters that Perfetto opens.", valueName: "file"),
      completion: .file())
    var trace: String?

    func apply(to settings: inout RunSettings) throws(TextError) {
      if let duration { settings.job.runFor = try DurationText.parse(duration, for: "--for") }
      if let halt { settings.job.halt = try HaltLimit(parsing: halt, for: "--halt") }
      if dryRun { settings.job.dryRun = true }
      if let progress { settings.progress = progress }
      if let trace { settings.trace = CommandWords.path(of: trace) }
    }
  }
}

extension ProgressStyle: ExpressibleByArgument {}
