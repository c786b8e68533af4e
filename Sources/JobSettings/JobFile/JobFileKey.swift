import Files
import Yams

/// A key of a job file, and the way its value changes settings.
///
/// Each key is declared once, in this library or by a program that adds its own settings. The list of valid keys, the
/// suggestions for misspelled ones and the order in which values are applied all follow from the declarations.
package struct JobFileKey<Settings>: Sendable {
  /// The key and its other spellings.
  package let names: [String]
  /// Applies the value to the settings, or notes a mistake in the reader if the value is not valid.
  package let read:
    @Sendable (_ value: Node, _ name: String, _ reader: inout JobFileReader, _ settings: inout Settings) -> Void

  init(
    names: [String],
    read: @escaping @Sendable (Node, String, inout JobFileReader, inout Settings) -> Void
  ) {
    self.names = names
    self.read = read
  }

  /// Declares a key whose value `parse` reads. If `parse` returns nil, it has noted a mistake.
  init<Value>(
    _ name: String, _ field: any WritableKeyPath<Settings, Value> & Sendable,
    parse: @escaping @Sendable (Node, String, inout JobFileReader) -> Value?
  ) {
    self.init(names: [name]) { value, name, reader, settings in
      if let value = parse(value, name, &reader) { settings[keyPath: field] = value }
    }
  }

  /// Declares a key whose value is `yes` or `no`.
  package static func flag(_ name: String, _ field: any WritableKeyPath<Settings, Bool> & Sendable) -> Self {
    Self(name, field) { $2.flag($0, $1) }
  }

  /// Declares a key whose value is one of the raw values of an enumeration.
  package static func word<Word: RawRepresentable & CaseIterable & SendableMetatype>(
    _ name: String, _ field: any WritableKeyPath<Settings, Word> & Sendable
  ) -> Self where Word.RawValue == String {
    Self(name, field) { $2.word($0, $1) }
  }

  /// Declares a key whose value is a path. A relative path starts from the folder of the job file.
  package static func path(_ name: String, _ field: any WritableKeyPath<Settings, Path?> & Sendable) -> Self {
    Self(name, field) { value, name, reader in reader.path(value, name) }
  }

  /// Declares a key whose value is text that `parse` understands.
  ///
  /// - Parameter parse: receives the text and the key; its error names the key.
  package static func text<Value>(
    _ name: String, _ field: any WritableKeyPath<Settings, Value> & Sendable,
    parse: @escaping @Sendable (_ text: String, _ key: String) throws(TextError) -> Value
  ) -> Self {
    Self(name, field) { $2.parsed($0, $1, parse) }
  }

  /// The keys of a job, for settings that contain the job's settings.
  package static func job(_ field: any WritableKeyPath<Settings, JobSettings> & Sendable) -> [Self] {
    JobSettings.jobFileKeys.map { $0.within(field) }
  }

  /// The same key for larger settings that contain the ones it changes.
  package func within<Outer>(_ field: any WritableKeyPath<Outer, Settings> & Sendable) -> JobFileKey<Outer> {
    JobFileKey<Outer>(names: names) { value, name, reader, outer in read(value, name, &reader, &outer[keyPath: field]) }
  }
}
