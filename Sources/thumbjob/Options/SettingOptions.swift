import ArgumentParser
import JobSettings
import Sourcing

/// The options of a group of settings, made from their declarations.
///
/// ArgumentParser finds options by reflection, usually as the properties of a type. This type has a reflection of its own
/// with an option for each setting, and decodes them by the names of the settings.
struct SettingOptions<Group: SettingGroup>: ParsableArguments, CustomReflectable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private let options: [(setting: Setting<Group.Settings>, option: any SettingOption)]

  init() { options = Group.settings.map { ($0, $0.info.option(isHidden: Group.hides($0.info))) } }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    options = try Group.settings.map { setting in
      func decode<Option: SettingOption>(_ type: Option.Type) throws -> any SettingOption {
        try container.decode(type, forKey: Key(stringValue: setting.info.name))
      }
      return (setting, try decode(setting.info.optionType))
    }
  }

  var customMirror: Mirror {
    Mirror(self, children: options.map { (label: $0.setting.info.name, value: $0.option) })
  }

  /// The options that were given.
  var given: GivenOptions<Group.Settings> {
    GivenOptions(options: options.map { ($0.setting, $0.option.texts) }.filter { !$0.1.isEmpty })
  }

  /// - Throws: `TextError` if an option is given that the group hides.
  func refuseHidden(for words: ResultWords) throws(TextError) {
    guard let (setting, _) = given.options.first(where: { Group.hides($0.setting.info) }) else { return }
    throw TextError("--\(setting.info.name): has no meaning for \(words.result)s; leave it out")
  }

  /// The options that were given, as words of a command line for another process.
  var words: [String] {
    given.options.flatMap { setting, texts in
      texts.map { setting.info.valueName == nil ? "--\(setting.info.name)" : "--\(setting.info.name)=\($0)" }
    }
  }
}

/// An option or flag of ArgumentParser.
private protocol SettingOption: Decodable {
  init(_ name: NameSpecification, _ help: ArgumentHelp, _ completion: CompletionKind?)
  /// The values that were given: `yes` for a flag.
  var texts: [String] { get }
}

extension Flag: SettingOption where Value == Bool {
  fileprivate init(_ name: NameSpecification, _ help: ArgumentHelp, _ completion: CompletionKind?) {
    self.init(wrappedValue: false, name: name, help: help)
  }

  fileprivate var texts: [String] { wrappedValue ? ["yes"] : [] }
}

extension Option: SettingOption where Value: SettingOptionValue {
  fileprivate init(_ name: NameSpecification, _ help: ArgumentHelp, _ completion: CompletionKind?) {
    self = Value.option(name, help, completion)
  }

  fileprivate var texts: [String] { wrappedValue.texts }
}

/// The type of an option's value.
private protocol SettingOptionValue {
  static func option(_ name: NameSpecification, _ help: ArgumentHelp, _ completion: CompletionKind?) -> Option<Self>
  var texts: [String] { get }
}

extension [String]: SettingOptionValue {
  fileprivate static func option(
    _ name: NameSpecification, _ help: ArgumentHelp, _ completion: CompletionKind?
  ) -> Option<Self> {
    Option(wrappedValue: [], name: name, help: help, completion: completion)
  }

  fileprivate var texts: [String] { self }
}

extension Optional: SettingOptionValue where Wrapped: ExpressibleByArgument & CustomStringConvertible {
  fileprivate static func option(
    _ name: NameSpecification, _ help: ArgumentHelp, _ completion: CompletionKind?
  ) -> Option<Self> {
    Option(wrappedValue: nil, name: name, help: help, completion: completion)
  }

  fileprivate var texts: [String] { map { ["\($0)"] } ?? [] }
}

/// A raw value of an enumeration. Help shows all of them.
private struct WordOfOption<Word: RawRepresentable<String> & CaseIterable>: ExpressibleByArgument,
  CustomStringConvertible
{
  let description: String

  init?(argument: String) {
    if Word(rawValue: argument) == nil { return nil }
    description = argument
  }

  static var allValueStrings: [String] { Word.allCases.map(\.rawValue) }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension SettingInfo {
  /// The type whose values the parser checks.
  fileprivate var optionType: any SettingOption.Type {
    func option<Word: RawRepresentable<String> & CaseIterable>(of type: Word.Type) -> any SettingOption.Type {
      Option<WordOfOption<Word>?>.self
    }
    return switch form {
    case .flag: Flag<Bool>.self
    case .wholeNumber: Option<Int?>.self
    case .word(let type), .wordOrFlag(let type): option(of: type)
    case .text: Option<String?>.self
    case .words, .texts, .namedTexts: Option<[String]>.self
    }
  }

  fileprivate func option(isHidden: Bool) -> any SettingOption {
    optionType.init(
      names, ArgumentHelp(help, valueName: valueName, visibility: isHidden ? .hidden : .default),
      completion.map { CompletionKind($0) })
  }

  private var names: NameSpecification {
    let letters = letter.map { [NameSpecification.Element.customShort($0, allowingJoined: valueName != nil)] } ?? []
    return NameSpecification(letters + ([name] + otherOptions).map { .customLong($0) })
  }
}

extension CompletionKind {
  fileprivate init(_ completion: SettingInfo.ValueCompletion) {
    self =
      switch completion {
      case .folder: .directory
      case .file(let extensions): .file(extensions: extensions)
      case .words(let words): .list(words)
      }
  }
}
