import JobSettings

/// The hint about an option that a command does not have.
enum UnknownOption {
  /// Options of other programs for which the answer is not the name of another option. A letter that has a meaning in one
  /// of the commands is none of them.
  private static let answers: [String: String] = [
    "--recursive": "a folder is read with all below it, so leave it out",
    "-r": "a folder is read with all below it, so leave it out",
    "-R": "a folder is read with all below it, so leave it out",
    "--crop": "a size with ^ fills and crops: --size 300x200^",
    "--strip": "metadata is left out unless --keep names it",
    "--input": "name the source without an option: thumbjob FOLDER",
    "-i": "name the source without an option: thumbjob FOLDER",
    "--config": "a job file is a source: thumbjob FILE.yml",
    "-c": "a job file is a source: thumbjob FILE.yml",
    "--yes": "--prune=yes removes without asking",
    "-y": "--prune=yes removes without asking",
    "--width": "the width is a size with x behind it: --size 300x",
    "--height": "the height is a size with x before it: --size x300",
    "--daemon": "thumbjob watch FOLDER keeps thumbnails up to date",
    "--watch": "thumbjob watch FOLDER keeps thumbnails up to date",
    "-f": "did you mean --force?",
    "-n": "did you mean --dry-run?",
    "-t": "did you mean --max?",
    "-P": "did you mean --max?",
    "-m": "did you mean --max or --memory?",
    "-w": "the width is a size with x behind it: --size 300x",
    "-V": "did you mean --version?",
  ]

  /// What to say after “unknown option”.
  ///
  /// - Parameters:
  ///   - option: with its hyphens.
  ///   - command: names the options that there are.
  static func hint(_ option: String, _ command: CommandTable.Command) -> String {
    let names = command.options.flatMap { $0.names ?? [] }.filter { $0.kind == .long }.map(\.name)
    let takesSources = names.contains("size")
    if takesSources || option == "-V", let answer = answers[option] { return answer }
    if option.hasPrefix("--") {
      let word = String(option.dropFirst(2))
      if let other = OtherNames.setting(for: word), names.contains(other) { return "did you mean --\(other)?" }
      // ArgumentParser suggests options that are hardly similar, so the hint is ours.
      if let meant = NearestWord.to(word, among: names) { return "did you mean --\(meant)?" }
    }
    return "see thumbjob \(command.commandName == "run" ? "--help-all" : "\(command.commandName) --help")"
  }
}
