/// The text about a mistake on the command line that ArgumentParser has found.
enum UsageMistake {
  /// - Parameters:
  ///   - message: the message of ArgumentParser.
  ///   - usage: the usage of the command. It is added only where the command line as a whole is wrong.
  ///   - command: the command that the line is for.
  static func text(_ message: String, usage: String?, command: CommandTable.Command) -> String {
    if let option = message.wholeMatch(of: /Unknown option '(-.*?)'(?:\. Did you mean '[^']*'\?)?/)?.output.1 {
      return "unknown option \(option); \(UnknownOption.hint(String(option), command))"
    }
    let isIncomplete = ["Missing expected", "Missing one of", "Unexpected argument"].contains { message.hasPrefix($0) }
    let line = reworded(message, command) ?? oneLine(message)
    guard isIncomplete || message.contains(" unexpected arguments: "), let usage else { return line }
    return "\(line)\n\(usage)"
  }

  /// The message in the form of those about values that are out of range: the option, then what is wrong with it. Nil for
  /// messages that are not about one option.
  private static func reworded(_ message: String, _ command: CommandTable.Command) -> String? {
    if let match = message.wholeMatch(of: /The value '(.*)' is invalid for '(-[^ ']+)[^']*'.*/.dotMatchesNewlines()) {
      let words = command.option(match.output.2)?.allValues
      let isNumber = match.output.1.allSatisfy(\.isNumber)
      let fault =
        words.map { "is not one of \($0.joined(separator: ", "))" }
        ?? (isNumber ? "is too large" : "is not a whole number")
      return "\(match.output.2): “\(match.output.1)” \(fault)"
    }
    if let match = message.wholeMatch(of: /The value '.*' is invalid for '(<.*>)': (.*)/) {
      return "\(match.output.1): \(match.output.2)"
    }
    if let match = message.wholeMatch(of: /Missing value for '((-[^ ']+).*)'/) {
      // ArgumentParser names the value of a long option only.
      let way = command.option(match.output.2).map { "\(match.output.2) \(example(of: $0))" }
      return "\(match.output.2): has no value; write \(way ?? String(match.output.1))"
    }
    if let match = message.wholeMatch(of: /The option '(-.*?)' does not take any value, but '(.*)' was specified\./) {
      return "\(match.output.1): takes no value, but “\(match.output.2)” was given"
    }
    if let match = message.wholeMatch(of: /Missing expected argument '((-[^ ']+).*)'/) {
      return "\(match.output.2): is missing; write \(match.output.1)"
    }
    if let match = message.wholeMatch(of: /Unexpected argument '(.*)'/) {
      return "unexpected argument “\(match.output.1)”"
    }
    return nil
  }

  /// What a user may write as the value of an option: its default, if that is a number, and otherwise a word as in
  /// `ShortHelp`.
  private static func example(of option: CommandTable.Argument) -> String {
    if let number = option.abstract?.firstMatch(of: /\(default: ([0-9]+)\)/)?.output.1 { return String(number) }
    let name = option.valueName ?? "value"
    return name == "folder" ? "DIR" : name.uppercased()
  }

  /// The message in one line, which begins with a small letter because it follows the name of the program.
  private static func oneLine(_ message: String) -> String {
    var text = message.prefix(1).lowercased() + message.dropFirst()
    // A list of values has a line for each.
    text = text.replacing(#/:\n +- /#, with: ": ").replacing(#/\n +- /#, with: ", ")
    return text.replacing(#/\n +/#, with: ", ")
  }
}
