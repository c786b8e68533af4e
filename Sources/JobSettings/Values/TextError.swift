/// A text that is not a valid value of a setting. The description is one line for the user.
package struct TextError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The setting that is wrong, by the name that option and key share; nil if the text says it.
  package let setting: String?
  private let text: String

  package init(_ text: String) { (setting, self.text) = (nil, text) }

  /// - Parameter setting: the name that option and key share. The library does not know which of them the user wrote.
  package init(in setting: String, _ text: String) { (self.setting, self.text) = (setting, text) }

  /// For a setting, its name and what is wrong with it.
  package var description: String { setting.map { "\($0): \(text)" } ?? text }

  /// For a setting, its option and what is wrong with it.
  package var optionDescription: String { setting == nil ? text : "--\(description)" }
}
