/// What a setting is called and what it is for.
package struct SettingInfo: Sendable {
  /// How a value is written.
  package enum Form: Sendable {
    /// `yes` or `no`. An option has no value, and means `yes`.
    case flag
    case wholeNumber
    /// One of the raw values of an enumeration.
    case word(WordType)
    /// The same, or `yes` or `no`.
    case wordOrFlag(WordType)
    /// Words, as a list or separated by commas.
    case words([String])
    case text
    /// One text or several.
    case texts
    /// The same, each with or without a name.
    case namedTexts
  }

  package typealias WordType = any (RawRepresentable<String> & CaseIterable & SendableMetatype).Type

  /// What a shell can offer as the value.
  package enum ValueCompletion: Sendable {
    case folder
    /// Files with these extensions, or all files.
    case file(extensions: [String])
    case words([String])
  }

  /// The option and the key.
  package let name: String
  /// A letter that stands for the option.
  package var letter: Character?
  /// Other spellings of the option.
  package var otherOptions: [String] = []
  /// Other spellings of the key.
  package var otherKeys: [String] = []
  package let form: Form
  /// What help calls the value; nil for a flag.
  package let valueName: String?
  /// What the setting is for, without its default.
  let purpose: String
  /// The default as a user would write it, or what it depends on; nil if the setting is off by default.
  package var defaultText: String?
  package var completion: ValueCompletion?
  /// Why a watch refuses the setting; nil if it does not.
  package var watchRefusal: String?
  /// Whether it has a meaning only for thumbnails, so that other kinds of jobs refuse it.
  package var isOnlyForThumbnails = false

  /// What the setting is for, and its default.
  package var help: String { defaultText.map { "\(purpose) (default: \($0))" } ?? purpose }

  /// The words of a type whose values are words.
  package static func words(of type: WordType) -> [String] {
    func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> [String] {
      type.allCases.map(\.rawValue)
    }
    return words(type)
  }
}
