import ArgumentParser
import Files
import Foundation
import ThumbnailJobs

/// `thumbjob run`, which is also the default: reads the options. `RunSession` does the work.
struct RunCommand: ParsableCommand, SignalHandlingCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Makes JPEG thumbnails of whole folders with a queue that never piles up.",
    usage: "thumbjob [run] <source> ... [options]",
    discussion: examples)

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, a job file (*.yml), or - for paths on standard input, one per line.",
      valueName: "source"))
  var words: [String] = []

  @OptionGroup(title: "Thumbnails") var output: OutputOptions
  @OptionGroup(title: "Sources") var source: SourceOptions
  @OptionGroup(title: "Running") var options: RunOptions

  func run() throws {
    let settings: RunSettings
    do {
      settings = try readSettings()
    } catch let error as JobFileError {
      _ = StandardStream.write(error.description + "\n", to: STDERR_FILENO)
      throw ExitStatus.jobFileInvalid.code
    } catch let error as TextError {
      throw ValidationError(error.description)
    }
    throw RunSession(settings).run()
  }

  /// The defaults, changed by the job file and then by the command line.
  ///
  /// - Throws: `JobFileError` or `TextError`, depending on which of the two is wrong.
  func readSettings() throws -> RunSettings {
    let paths = words.flatMap { CommandWords.paths(of: $0) }
    let jobFiles = paths.filter { JobFile.isName($0) }
    if jobFiles.count > 1 {
      throw TextError("only one job file can be given: \(jobFiles.prefix(3).map(\.printable).joined(separator: ", "))")
    }
    // The options first, so that their mistakes are reported before those of the job file.
    var scratch = RunSettings()
    try apply(to: &scratch, paths: [])
    var settings = RunSettings()
    if let jobFile = jobFiles.first {
      try JobFile.read(jobFile, keys: RunSettings.jobFileKeys, dash: SourceList.standardInput, into: &settings)
    }
    let written = settings
    try apply(to: &settings, paths: paths.filter { !JobFile.isName($0) })
    do throws(TextError) {
      try settings.validate()
    } catch {
      if let jobFile = jobFiles.first, (try? written.validate()) == nil {
        throw JobFileError(in: jobFile, error.description)
      }
      throw error
    }
    if settings.job.sources.isEmpty {
      if let jobFile = jobFiles.first { throw JobFileError(in: jobFile, "names no sources; add sources: ../images") }
      throw TextError("no source given: name a folder, such as thumbjob ./images, or see thumbjob --help")
    }
    return settings
  }

  private func apply(to settings: inout RunSettings, paths: [Path]) throws(TextError) {
    try source.apply(to: &settings.job, words: paths)
    for index in settings.job.outputs.indices { try output.apply(to: &settings.job.outputs[index]) }
    try options.apply(to: &settings)
  }

  private static let examples = """
    Examples:
      thumbjob ./images                     a folder, into ./thumbs
      thumbjob ./images --max 4 -o out      four at once, into another folder
      thumbjob . -s 320x200^ -s large=1600  two sizes, the first cropped to fill
      thumbjob jobs/gallery.yml             a job file; options override it
      find . -newer mark -print0 | thumbjob --files0-from -
      thumbjob compare ./images             compare with a queue without bounds
    While it runs:
      thumbjob status [PID] [--watch]       lists what runs, what waits and why
      thumbjob cancel [PID [OPERATION]]     cancels everything, or one operation
      thumbjob pause [PID]                  starts nothing new until it is resumed
      kill -USR1 PID                        prints what runs and what waits
      kill -USR2 PID                        cancels everything; run again to go on
    """
}
