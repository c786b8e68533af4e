/// Settings that all have a default.
package protocol DefaultSettings: SendableMetatype { init() }

/// A setting, declared once: its names, its help, its default, and how texts change it.
///
/// Options, keys of job files, help, completions and the list of what a watch refuses are made from the declarations.
/// They stand beside the properties that they set, in the order in which help shows them.
package struct Setting<Settings>: Sendable {
  package let info: SettingInfo
  /// Changes the settings by the texts of a value: `yes` or `no` for a flag, one or more for a list, otherwise one.
  package let change: @Sendable ([String], TextOrigin, inout Settings) throws(TextError) -> Void
  /// Takes back the other setting that gives way to this one.
  package let override: @Sendable (inout Settings) -> Void
  /// Whether the settings differ from the default.
  private let isChanged: @Sendable (Settings) -> Bool

  init(
    _ info: SettingInfo,
    change: @escaping @Sendable ([String], TextOrigin, inout Settings) throws(TextError) -> Void,
    override: @escaping @Sendable (inout Settings) -> Void = { _ in },
    isChanged: @escaping @Sendable (Settings) -> Bool
  ) {
    (self.info, self.change, self.override, self.isChanged) = (info, change, override, isChanged)
  }

  /// The same setting of larger settings.
  ///
  /// - Parameters:
  ///   - parts: the smaller settings in the larger ones.
  ///   - visit: changes each of the smaller settings.
  package func within<Outer>(
    parts: @escaping @Sendable (Outer) -> [Settings],
    visit: @escaping @Sendable (inout Outer, (inout Settings) throws(TextError) -> Void) throws(TextError) -> Void
  ) -> Setting<Outer> {
    Setting<Outer>(
      info,
      change: { texts, origin, outer throws(TextError) in
        try visit(&outer) { part throws(TextError) in try change(texts, origin, &part) }
      },
      override: { outer in try? visit(&outer) { part in override(&part) } },
      isChanged: { outer in parts(outer).contains { isChanged($0) } })
  }

  /// The same setting of larger settings.
  package func within<Outer>(_ field: any WritableKeyPath<Outer, Settings> & Sendable) -> Setting<Outer> {
    within(
      parts: { [$0[keyPath: field]] },
      visit: { outer, change throws(TextError) in try change(&outer[keyPath: field]) })
  }

  /// - Throws: ``TextError`` if a watch refuses the setting, and it is not the default.
  package func checkWatch(_ settings: Settings) throws(TextError) {
    if let refusal = info.watchRefusal, isChanged(settings) { throw TextError(in: info.name, refusal) }
  }
}

extension Setting where Settings: DefaultSettings {
  /// - Parameters:
  ///   - field: the property that is set.
  ///   - notation: how its value is written.
  ///   - valueName: nil for a flag.
  ///   - defaultText: what the default depends on, if it is computed later.
  ///   - overridden: a flag that gives way to this one.
  package init<Value: Equatable & SendableMetatype>(
    _ name: String, letter: Character? = nil, otherOptions: [String] = [], otherKeys: [String] = [],
    _ field: any WritableKeyPath<Settings, Value> & Sendable, _ notation: Notation<Value>,
    value valueName: String? = nil,
    _ purpose: String, default defaultText: String? = nil, completion: SettingInfo.ValueCompletion? = nil,
    refusedByWatch: String? = nil, onlyForThumbnails isOnlyForThumbnails: Bool = false,
    overriding overridden: (any WritableKeyPath<Settings, Bool> & Sendable)? = nil
  ) {
    self.init(
      SettingInfo(
        name: name, letter: letter, otherOptions: otherOptions, otherKeys: otherKeys, form: notation.form,
        valueName: valueName, purpose: purpose,
        defaultText: defaultText ?? notation.text(Settings()[keyPath: field]),
        completion: completion, watchRefusal: refusedByWatch, isOnlyForThumbnails: isOnlyForThumbnails),
      change: { texts, origin, settings throws(TextError) in
        settings[keyPath: field] = try notation.parse(texts, origin)
      },
      override: { settings in if let overridden { settings[keyPath: overridden] = false } },
      isChanged: { $0[keyPath: field] != Settings()[keyPath: field] })
  }

  /// Declares a setting that is nil by default.
  package init<Value: Equatable & SendableMetatype>(
    _ name: String, letter: Character? = nil, otherOptions: [String] = [], otherKeys: [String] = [],
    _ field: any WritableKeyPath<Settings, Value?> & Sendable, _ notation: Notation<Value>, value valueName: String,
    _ purpose: String, default defaultText: String? = nil, completion: SettingInfo.ValueCompletion? = nil,
    refusedByWatch: String? = nil, onlyForThumbnails isOnlyForThumbnails: Bool = false
  ) {
    self.init(
      name, letter: letter, otherOptions: otherOptions, otherKeys: otherKeys, field, notation.optional,
      value: valueName, purpose,
      default: defaultText, completion: completion, refusedByWatch: refusedByWatch,
      onlyForThumbnails: isOnlyForThumbnails)
  }
}
