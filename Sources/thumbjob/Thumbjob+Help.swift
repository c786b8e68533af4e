import ArgumentParser
import Files
import Foundation
import JobSettings
import StatusEndpoint

// The texts that are printed instead of running a command, and those about mistakes on the command line.
extension Thumbjob {
  private static var table: CommandTable { CommandTable(dump: _dumpHelp()) }

  /// The text that the words ask for, if they ask for one that ArgumentParser does not make, or makes slowly: short help, the
  /// manual page, the version, or what completes a command line.
  static func requestedText(_ words: [String]) throws(TextError) -> String? {
    switch words.first {
    case Completion.request:
      return Completion(of: Array(words.dropFirst()), in: table) { RunningJobs.find().map(\.pid) }.text
    case let first? where first == CompletionScript.option || first.hasPrefix(CompletionScript.option + "="):
      return try CompletionScript.text(for: words)
    case "--generate-manual": return ManualPage.text(table)
    case "--version" where words.count == 1: return Version.description + "\n"
    case "help": return try help(on: words.dropFirst().first { !$0.hasPrefix("-") })
    default:
      let options = words.prefix { $0 != "--" }
      let isCommand = subcommands.contains { $0.name == words.first }
      return !isCommand && (options.contains("--help") || options.contains("-h")) ? ShortHelp.text : nil
    }
  }

  private static func help(on name: String?) throws(TextError) -> String {
    guard let name, name != "help" else { return ShortHelp.text }
    if let command = subcommands.first(where: { $0.name == name }) {
      return helpMessage(for: command) + "\n"
    }
    let meant = NearestWord.to(name, among: table.commands.map(\.commandName)).map { "; did you mean \($0)?" }
    throw TextError("there is no command “\(name)”\(meant ?? "")")
  }

  /// The help of all commands, and what the manual page says besides.
  static var fullHelp: String {
    let shown = subcommands.filter { $0.configuration.shouldDisplay }.map { helpMessage(for: $0) }
    let examples = "EXAMPLES:\n" + Reference.examples.map { "  \($0)\n" }.joined()
    let rest = [
      examples, Reference.text("Signals", Reference.signals), Reference.text("Environment", Reference.environment),
      Reference.text("Exit status", Reference.exitStatuses),
    ]
    let line = "\n" + String(repeating: "-", count: 80) + "\n\n"
    return (shown + [rest.joined(separator: "\n")]).joined(separator: line)
  }

  /// - Throws: `TextError` if the first word of the command line names no file, and is nearly the name of a command.
  static func rejectMisspelledCommand(_ word: String) throws(TextError) {
    // A name of three letters is near to any other.
    guard word.count > 3, !word.hasPrefix("-"), !word.contains("/"), !word.contains("."),
      !subcommands.contains(where: { $0.name == word }),
      case .failure = FileStatus.of(Path(word), followingLinks: false),
      let meant = word == "version" ? "--version" : NearestWord.to(word, among: table.commands.map(\.commandName))
    else { return }
    throw TextError("\(word): no such file or folder; did you mean `thumbjob \(meant)`?")
  }

  /// The text about a mistake that ArgumentParser has found.
  ///
  /// - Parameters:
  ///   - message: the message alone.
  ///   - fullMessage: the message with the usage.
  static func mistake(_ message: String, _ fullMessage: String) -> String {
    let usage = fullMessage.split(separator: "\n").first { $0.hasPrefix("Usage: ") }
    return UsageMistake.text(
      message, usage: usage.map(String.init), command: table.command(of: CommandWords.forPeople))
  }
}
