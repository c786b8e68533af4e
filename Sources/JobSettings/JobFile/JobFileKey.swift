import Yams

/// A key of a job file, and the way its value changes settings.
///
/// Nearly all keys are those of a `Setting`. The list of valid keys, the suggestions for misspelled ones and the order in
/// which values are applied follow from the order of the keys.
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

  /// The key of a setting.
  package init(_ setting: Setting<Settings>) {
    self.init(names: [setting.info.name] + setting.info.otherKeys) { value, name, reader, settings in
      reader.read(setting, value, name, into: &settings)
    }
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
