import JobSettings

/// A plain command line of `run`, read without ArgumentParser (``GivenOptions``). It means what ``RunCommand`` would read from
/// it.
struct PlainRun {
  private let sources: [String]
  private let options: GivenOptions<RunSettings>

  /// - Parameter isCommand: whether a word is the name of a command.
  /// - Returns: nil if the command line is not plain, or may name another command.
  init?(_ words: [String], isCommand: (String) -> Bool) {
    let rest = words.first == RunCommand.name ? Array(words.dropFirst()) : words
    guard !rest.contains(where: isCommand),
      let (options, sources) = GivenOptions.plain(
        rest,
        of: SourceGroup.settings + NetworkGroup.settings + ThumbnailGroup.settings + JoinGroup.settings
          + RunningGroup.settings)
    else { return nil }
    (self.options, self.sources) = (options, sources)
  }

  /// - Throws: as ``RunCommand/readSettings()``.
  func readSettings() throws -> RunSettings { try RunSettings.read(sources, options) }
}
