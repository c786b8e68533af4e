import Foundation

/// The commands with their arguments and options, read from the description that ArgumentParser gives of them. From
/// this table come completions (``Completion``), hints (``UsageMistake``) and the manual page (``ManualPage``), so that
/// none of them misses an option. Only ``ShortHelp``, the text of `--help`, is written by hand.
///
/// The scripts of the shells (`Completion/thumbjob.*`) ask the program (`thumbjob ---complete WORD...`) and add paths.
struct CommandTable: Decodable {
  struct Command: Decodable {
    let commandName: String
    let shouldDisplay: Bool
    let abstract: String?
    let discussion: String?
    let defaultSubcommand: String?
    let subcommands: [Command]?
    let arguments: [Argument]?
  }

  struct Argument: Decodable {
    enum Kind: String, Decodable { case positional, option, flag }

    struct Name: Decodable {
      enum Kind: String, Decodable { case long, short, longWithSingleDash }

      let kind: Kind
      let name: String

      /// The name as a user types it.
      var text: String { (kind == .long ? "--" : "-") + name }
    }

    /// The values that a shell can complete.
    enum Values: Decodable {
      case list(values: [String])
      /// Files with these extensions, or all files.
      case file(extensions: [String])
      case directory
    }

    let kind: Kind
    let shouldDisplay: Bool
    let names: [Name]?
    let valueName: String?
    let isRepeating: Bool
    let sectionTitle: String?
    let abstract: String?
    /// All valid values, if they are words.
    let allValues: [String]?
    let completionKind: Values?
  }

  let command: Command

  /// - Parameter dump: the JSON of `_dumpHelp()`.
  init(dump: String) {
    do {
      self = try JSONDecoder().decode(CommandTable.self, from: Data(dump.utf8))
    } catch {
      preconditionFailure("ArgumentParser describes its commands in an unknown way: \(error)")
    }
  }

  /// The commands that help lists, with `help` itself as the last.
  var commands: [Command] { command.subcommands?.filter(\.shouldDisplay) ?? [] }

  /// The command that a line of words is for: the one that the first word names, or `run`.
  func command(of words: some Collection<String>) -> Command {
    let named = command.subcommands?.first { $0.commandName == words.first }
    guard let command = named ?? command.subcommands?.first(where: { $0.commandName == command.defaultSubcommand })
    else { preconditionFailure("the default command is one of the subcommands") }
    return command
  }
}

extension CommandTable.Command {
  /// Those that help lists.
  var options: [CommandTable.Argument] { arguments?.filter { $0.kind != .positional && $0.shouldDisplay } ?? [] }
  var positionals: [CommandTable.Argument] { arguments?.filter { $0.kind == .positional } ?? [] }

  /// The option with this name, which is written with its dashes; also one that help does not list.
  func option(_ name: some StringProtocol) -> CommandTable.Argument? {
    arguments?.first { $0.kind != .positional && $0.names?.contains { $0.text == name } == true }
  }
}
