/// The manual page, in the macros of man(7).
enum ManualPage {
  static func text(_ table: CommandTable) -> String {
    let run = table.command(of: [])
    let others = table.commands.filter { $0.commandName != run.commandName && $0.commandName != "help" }
    var lines = [
      ".TH THUMBJOB 1 \"\" \"thumbjob \(Version.current)\" \"User Commands\"",
      ".SH NAME", "thumbjob \\- \(escaped(summary(run.abstract)))",
      ".SH SYNOPSIS", ".nf", ".B thumbjob \\fR[\\fBrun\\fR] \\fIsource\\fR ... [\\fIoptions\\fR]",
    ]
    lines += others.map { ".B thumbjob \($0.commandName)\\fR ..." } + [".fi"]
    lines += [".SH DESCRIPTION", paragraphs(table.command.discussion)]
    lines += [".SH OPTIONS"] + entries(run)
    lines.append(".SH COMMANDS")
    for command in others {
      lines += [".SS thumbjob \(command.commandName)", escaped(command.abstract ?? "")]
      if let discussion = command.discussion { lines += [".PP", paragraphs(discussion)] }
      lines += entries(command)
    }
    lines += [".SH EXAMPLES", ".EX"] + Reference.examples.map(escaped) + [".EE"]
    lines += [".SH SIGNALS"] + Reference.signals.flatMap(entry)
    lines += [".SH ENVIRONMENT"] + Reference.environment.flatMap(entry)
    lines += [".SH EXIT STATUS"] + Reference.exitStatuses.flatMap(entry)
    return lines.map { $0 + "\n" }.joined()
  }

  /// The arguments and options of a command, with a heading where a group of them has a title.
  private static func entries(_ command: CommandTable.Command) -> [String] {
    var title: String?
    return (command.arguments ?? []).filter { $0.shouldDisplay && !["help", "version"].contains($0.names?.last?.name) }
      .flatMap { argument in
        let heading = argument.sectionTitle.flatMap { $0 == title ? nil : ".SS \($0)" }
        title = argument.sectionTitle
        let values = argument.allValues.map { "Values: \($0.joined(separator: ", "))." }
        return [heading, ".TP", term(argument), escaped(argument.abstract ?? ""), values].compactMap { $0 }
      }
  }

  private static func term(_ argument: CommandTable.Argument) -> String {
    let value = argument.valueName.map { "\\fI\(escaped($0))\\fR" } ?? ""
    guard let names = argument.names else { return value }
    let text = names.map { "\\fB\(escaped($0.text))\\fR" }.joined(separator: ", ")
    return argument.kind == .flag ? text : "\(text) \(value)"
  }

  private static func entry(_ entry: Reference.Entry) -> [String] { [".TP", escaped(entry.term), escaped(entry.text)] }

  /// An abstract as the line of NAME, which has no full stop.
  private static func summary(_ abstract: String?) -> String { String((abstract ?? "").dropLast()) }

  private static func paragraphs(_ text: String?) -> String {
    (text ?? "").split(separator: "\n\n").map { escaped(String($0)) }.joined(separator: "\n.PP\n")
  }

  /// The text without the characters that have a meaning for roff(7).
  private static func escaped(_ text: String) -> String {
    let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}
