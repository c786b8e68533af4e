import ArgumentParser
import Files
import JobSettings
import Sourcing
import Splitting

/// `thumbjob split`: writes lists for the machines of a cluster.
struct SplitCommand: Subcommand {
  static let name = "split"
  static let handlesSignals = false
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Writes lists of equal cost for the machines of a cluster.",
    usage: "thumbjob split <source> ... --into <folder> --parts <n> [options]",
    discussion: """
      Walks the sources once and divides them among lists that take about equally long, judged by file sizes and by the \
      pixels in the headers. thumbjob --files0-from FOLDER/0007 makes the thumbnails of one list, and --files0-from FOLDER \
      --shard auto those of the list that a scheduler's variables choose. Write many more lists than there are machines, so \
      that the scheduler balances the load and repeats what failed. The same sources give the same lists; if a few change, \
      nearly all others stay in their list.

      The lists have the paths as you give them, so relative ones need the same working folder. Thumbnails get the places \
      that a run over the sources themselves would give them.
      """)

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, or - for paths on standard input, one per line.", valueName: "source"),
    completion: .file(extensions: PictureNames.usual))
  var sources: [String] = []

  @Option(
    help: ArgumentHelp("The folder for the lists. It may have those of an earlier split.", valueName: "folder"),
    completion: .directory)
  var into: String

  @Option(help: ArgumentHelp("How many lists, 1 to 100000.", valueName: "n"))
  var parts: Int

  @Option(
    name: .customLong("files0-from"),
    help: ArgumentHelp("Read sources from a file, separated by NUL; - is standard input.", valueName: "file"),
    completion: .file())
  var files0From: String?

  @OptionGroup var filter: SettingOptions<FilterGroup>

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("out")],
    help: ArgumentHelp(
      "The folder of the thumbnails, which is not walked. (default: ./\(OutputSettings().folder))", valueName: "folder"),
    completion: .directory)
  var out: String?

  @Flag(help: "Write the summary as a line of JSON to standard output.")
  var json = false

  @OptionGroup var quiet: SettingOptions<QuietGroup>

  func run() throws { throw try session().run() }

  private func session() throws(TextError) -> SplitSession {
    let paths = sources.flatMap { CommandWords.paths(of: $0) }
    if let jobFile = paths.first(where: { JobFile.isName($0) }) {
      throw TextError("\(jobFile.printable) is a job file; split takes folders and files")
    }
    var arguments: [SourceArgument] = []
    for path in paths {
      arguments.append(
        try SourceArgument(local: path, way: "split reads files to estimate their cost; divide URLs with --shard I/N"))
    }
    if let files0From {
      arguments.append(
        .list(
          files0From == "-"
            ? .standardInput(.nul) : SourceList(file: CommandWords.path(of: files0From), separator: .nul)))
    }
    if arguments.isEmpty {
      throw TextError("no source given: name a folder, such as thumbjob split ./images --into lists --parts 64")
    }
    var settings = RunSettings()
    try (filter.given + quiet.given).apply(to: &settings)
    let into = CommandWords.path(of: into)
    let split = Split(
      arguments, filter: settings.job.filter, followsLinks: settings.job.followsLinks,
      outputs: [out.map { CommandWords.path(of: $0) } ?? OutputSettings().folder], into: into,
      parts: try parts.checked(Shard.counts, for: "--parts"))
    return SplitSession(
      split: split, sources: arguments, filter: settings.job.filter, into: into, printsJSON: json,
      isQuiet: settings.quiet)
  }
}
