import Files
import Foundation
import JobSettings
import Sourcing

extension RunSettings {
  /// The defaults, changed by the job file among the words and then by the command line.
  ///
  /// - Parameters:
  ///   - words: the sources, and perhaps a job file.
  ///   - options: those of the command line.
  ///   - complete: changes the settings once more after the options.
  /// - Throws: `JobFileError` or `TextError`, depending on which of the two is wrong.
  static func read(
    _ words: [String], _ options: GivenOptions<RunSettings>, then complete: (inout RunSettings) -> Void = { _ in }
  ) throws -> RunSettings {
    let paths = words.flatMap { CommandWords.paths(of: $0) }
    let jobFiles = paths.filter { JobFile.isName($0) }
    if jobFiles.count > 1 {
      throw TextError("only one job file can be given: \(jobFiles.prefix(3).map(\.printable).joined(separator: ", "))")
    }
    // The options first, so that their mistakes are reported before those of the job file.
    var scratch = RunSettings()
    try scratch.apply([], options)
    var settings = RunSettings()
    if let jobFile = jobFiles.first {
      try JobFile.read(jobFile, keys: RunSettings.jobFileKeys, dash: SourceList.standardInput, into: &settings)
    }
    var written = settings
    try settings.apply(paths.filter { !JobFile.isName($0) }, options)
    complete(&settings)
    written.job.watch = settings.job.watch
    settings.job.complete()
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
    try settings.job.resolveFolders()
    return settings
  }
}
