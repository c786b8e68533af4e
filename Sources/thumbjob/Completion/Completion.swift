/// The words and paths that can follow on a command line: the answer to the completion script of a shell.
struct Completion: Equatable {
  /// The first word of a script's question. The words of the command line follow; the last is being typed.
  static let request = "---complete"

  /// The paths that can follow. The shell finds them, because it knows its own rules of quoting.
  enum Paths: Equatable {
    case none, folders
    /// Folders, and files with these extensions or all files.
    case files(extensions: [String])
  }

  struct Word: Equatable {
    let text: String
    let about: String
  }

  private(set) var paths = Paths.none
  private(set) var words: [Word] = []

  /// - Parameters:
  ///   - line: the words after the name of the program; the last is being typed.
  ///   - jobs: finds the process ids of the running jobs.
  init(of line: [String], in table: CommandTable, jobs: () -> [Int]) {
    let (before, current) = (line.dropLast(), line.last ?? "")
    let command = table.command(of: before)
    let isNamed = before.first == command.commandName
    if before.isEmpty || before == ["help"] {
      let commands = table.commands.filter { before.isEmpty || $0.commandName != "help" }
      words = commands.map { Word(text: $0.commandName, about: Self.firstSentence($0.abstract)) }
      if !before.isEmpty { return }
    }
    let state = State(of: before.dropFirst(isNamed ? 1 : 0), for: command)
    if let option = state.open {
      offerValues(of: option, typed: current, jobs)
    } else if state.isAfterTerminator || !current.hasPrefix("-") {
      let positionals = command.positionals
      let positional =
        state.positionals < positionals.count ? positionals[state.positionals] : positionals.last { $0.isRepeating }
      if let positional { offerValues(of: positional, typed: current, jobs) }
    } else if let equals = current.firstIndex(of: "="), let option = command.option(current[..<equals]) {
      let (start, typed) = (String(current[...equals]), String(current[equals...].dropFirst()))
      offerValues(of: option, typed: typed, after: start, jobs)
    } else {
      words = command.options.filter { $0.isRepeating || !state.used.contains($0.names?.first?.text ?? "") }
        .flatMap { option in
          (option.names ?? []).map { Word(text: $0.text, about: Self.firstSentence(option.abstract)) }
        }
    }
  }

  /// The answer: a line about paths, and a line for each word with its description after a tab.
  var text: String {
    let first =
      switch paths {
      case .none: "none"
      case .folders: "folders"
      case .files(let extensions): (["files"] + extensions).joined(separator: " ")
      }
    return ([first] + words.map { "\($0.text)\t\($0.about)" }).map { $0 + "\n" }.joined()
  }

  /// - Parameter start: the part of the word before its value, such as `--out=`.
  private mutating func offerValues(
    of argument: CommandTable.Argument, typed: String, after start: String = "", _ jobs: () -> [Int]
  ) {
    switch argument.completionKind {
    case .directory: paths = .folders
    case .file(let extensions): paths = .files(extensions: extensions)
    case .list(let values):
      // A value may be a list with commas.
      let listed = typed.lastIndex(of: ",").map { String(typed[...$0]) } ?? ""
      words += values.map { Word(text: start + listed + $0, about: "") }
    case nil where argument.valueName == TargetOptions.valueName:
      words += jobs().map { Word(text: "\($0)", about: "a running job") }
    case nil: break
    }
  }

  private static func firstSentence(_ text: String?) -> String {
    let text = text ?? ""
    return String(text[..<(text.firstRange(of: #/[.;:] /#)?.lowerBound ?? text.endIndex)])
  }
}

extension Completion {
  /// The options and arguments that precede the word that is being typed.
  private struct State {
    /// The option whose value is being typed.
    var open: CommandTable.Argument?
    /// The first names of the options that were given.
    var used: Set<String> = []
    var positionals = 0
    var isAfterTerminator = false

    init(of words: ArraySlice<String>, for command: CommandTable.Command) {
      for word in words {
        if open != nil {
          open = nil
        } else if isAfterTerminator || !word.hasPrefix("-") || word == "-" {
          positionals += 1
        } else if word == "--" {
          isAfterTerminator = true
        } else if let option = command.option(word.prefix { $0 != "=" }) {
          used.insert(option.names?.first?.text ?? "")
          if option.kind == .option && !word.contains("=") { open = option }
        }
      }
    }
  }
}
