import JobSettings
import Sourcing

/// The options of settings that were given, with the texts of their values: `yes` for a flag.
struct GivenOptions<Settings: DefaultSettings>: Sendable {
  private(set) var options: [(setting: Setting<Settings>, texts: [String])] = []

  static func + (left: GivenOptions, right: GivenOptions) -> GivenOptions {
    GivenOptions(options: left.options + right.options)
  }

  /// Changes settings by the options.
  ///
  /// - Throws: `TextError` that names the option with an invalid value.
  func apply(to settings: inout Settings) throws(TextError) {
    // Before all changes, because options that override each other may both be given.
    for (setting, _) in options { setting.override(&settings) }
    for (setting, texts) in options {
      let origin = TextOrigin(
        subject: "--\(setting.info.name)", bytes: CommandWords.bytes, dash: SourceList.standardInput)
      try setting.change(texts, origin, &settings)
    }
  }

  func gives(_ name: String) -> Bool { options.contains { $0.setting.info.name == name } }
}

extension GivenOptions {
  /// The options among the words of a plain command line: each is spelled as help shows it, and has a value if it needs one.
  ///
  /// ArgumentParser takes three milliseconds to find the options of `run` by reflection. So it gets only the other command
  /// lines: mistakes, which it reports, and spellings that only it knows.
  ///
  /// - Parameters:
  ///   - words: the words without the name of a command.
  ///   - settings: those whose options may be given, in the order in which they are applied.
  /// - Returns: also the words that are no options; nil if the command line is not plain.
  static func plain(
    _ words: [String], of settings: @autoclosure () -> [Setting<Settings>]
  ) -> (given: GivenOptions, names: [String])? {
    guard words.contains(where: { $0.hasPrefix("-") && $0 != "-" }) else { return (GivenOptions(), words) }
    var names: [String] = []
    let settings = settings()
    var found = [[String]](repeating: [], count: settings.count)
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word != "-" else {
        names.append(word)
        continue
      }
      guard let (spelling, joined) = parts(of: word),
        let index = settings.firstIndex(where: { $0.info.spellings.contains(String(spelling)) })
      else { return nil }
      let info = settings[index].info
      if info.valueName == nil {
        guard joined == nil else { return nil }
        found[index] = ["yes"]
      } else {
        guard let value = joined ?? rest.popFirst(), joined != nil || !value.hasPrefix("-"),
          let text = info.plainText(value)
        else { return nil }
        if info.takesSeveral { found[index].append(text) } else { found[index] = [text] }
      }
    }
    return (GivenOptions(options: zip(settings, found).filter { !$1.isEmpty }.map { ($0, $1) }), names)
  }

  /// An option as it is spelled, and a value that is joined to it; nil for words with a meaning of their own.
  private static func parts(of word: String) -> (spelling: Substring, value: String?)? {
    if word.hasPrefix("--") {
      guard word.utf8.count > 2 else { return nil }
      guard let sign = word.firstIndex(of: "=") else { return (word[...], nil) }
      let value = word[word.index(after: sign)...]
      // For the parser, the value is the next word then.
      return value.isEmpty ? nil : (word[..<sign], String(value))
    }
    let value = word.dropFirst(2)
    // For the parser, this is a long option with one dash.
    return value.contains("=") ? nil : (word.prefix(2), value.isEmpty ? nil : String(value))
  }
}

extension SettingInfo {
  /// All spellings of the option.
  fileprivate var spellings: [String] { (letter.map { ["-\($0)"] } ?? []) + ([name] + otherOptions).map { "--\($0)" } }

  /// Whether each further value is one more.
  fileprivate var takesSeveral: Bool {
    switch form {
    case .words, .texts, .namedTexts: true
    case .flag, .wholeNumber, .word, .wordOrFlag, .text: false
    }
  }

  /// The text of a value, as the parser would give it; nil if it would reject the value.
  fileprivate func plainText(_ value: String) -> String? {
    switch form {
    case .wholeNumber: Int(value).map { "\($0)" }
    case .word(let type), .wordOrFlag(let type): Self.words(of: type).contains(value) ? value : nil
    case .flag, .text, .words, .texts, .namedTexts: value
    }
  }
}
