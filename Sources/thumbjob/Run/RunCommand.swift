import ArgumentParser
import Files
import Foundation
import ThumbnailJobs

/// `thumbjob run`, which is also the default: reads the options. `RunSession` does the work.
struct RunCommand: ParsableCommand, SignalHandlingCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    // With the name of a parent, the parser does not look for a request for completions here. Looking takes 2 ms.
    _superCommandName: "thumbjob",
    abstract: "Makes JPEG thumbnails of whole folders with a queue that never piles up.",
    usage: "thumbjob [run] <source> ... [options]")

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, a job file (*.yml), or - for paths on standard input, one per line.",
      valueName: "source"),
    completion: .file(extensions: SourceOptions.extensions + ["yml", "yaml"]))
  var words: [String] = []

  @OptionGroup(title: "Thumbnails") var output: OutputOptions
  @OptionGroup(title: "Of all thumbnails") var joins: JoinOptions
  @OptionGroup(title: "Sources") var source: SourceOptions
  @OptionGroup(title: "Running") var options: RunOptions

  /// Printed by the root command, which knows all commands.
  @Flag(help: "Show every option of every command.") var helpAll = false

  func run() throws {
    let settings: RunSettings
    do {
      settings = try readSettings()
    } catch let error as JobFileError {
      // One line for each mistake.
      Console().print("\(error)".split(separator: "\n").map { "thumbjob: \($0)" }.joined(separator: "\n"))
      throw (error.isMissing ? ExitStatus.noSuchSource : .jobFileInvalid).code
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
    try settings.job.resolveLists(in: ProcessInfo.processInfo.environment)
    return settings
  }

  private func apply(to settings: inout RunSettings, paths: [Path]) throws(TextError) {
    try source.apply(to: &settings.job, words: paths)
    for index in settings.job.outputs.indices { try output.apply(to: &settings.job.outputs[index]) }
    try joins.apply(to: &settings.job.joins)
    try options.apply(to: &settings)
  }
}
