import ContactSheet
import Files
import Sourcing
import Thumbnails

/// How the values of a setting are written.
package struct Notation<Value>: Sendable {
  let form: SettingInfo.Form
  /// Reads a value from one text, or from those of a list.
  let parse: @Sendable ([String], TextOrigin) throws(TextError) -> Value
  /// The text of a default; nil if help does not show it.
  package let text: @Sendable (Value) -> String?

  init(
    _ form: SettingInfo.Form, parse: @escaping @Sendable ([String], TextOrigin) throws(TextError) -> Value,
    text: @escaping @Sendable (Value) -> String? = { _ in nil }
  ) {
    (self.form, self.parse, self.text) = (form, parse, text)
  }

  /// A notation of one text. If an option is given twice, the last text counts.
  ///
  /// - Parameter parse: receives the text, and the option or key that its error names.
  package static func text(
    _ parse: @escaping @Sendable (_ text: String, _ subject: String) throws(TextError) -> Value,
    text: @escaping @Sendable (Value) -> String? = { _ in nil }
  ) -> Self {
    Self(.text, parse: { texts, origin throws(TextError) in try parse(texts.last ?? "", origin.subject) }, text: text)
  }

  /// The same for a setting that may be nil.
  var optional: Notation<Value?> {
    Notation<Value?>(
      form, parse: { texts, origin throws(TextError) in try parse(texts, origin) }, text: { $0.flatMap(text) })
  }
}

extension Notation where Value == Bool {
  package static var flag: Self { Self(.flag, parse: { texts, _ in texts.last == "yes" }) }
}

extension Notation where Value == Int {
  package static func number(in range: ClosedRange<Int>) -> Self {
    let parse = { @Sendable (texts: [String], origin: TextOrigin) throws(TextError) -> Int in
      let number = Int(texts.last ?? "") ?? .min
      if range.contains(number) { return number }
      throw TextError("\(origin.subject): \(number) is not within \(range.lowerBound) to \(range.upperBound)")
    }
    return Self(.wholeNumber, parse: parse, text: { "\($0)" })
  }

  package static var pixels: Self {
    .text(PixelCount.parse, text: PixelCount.text)
  }
}

extension Notation where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
  package static var word: Self {
    let parse = { @Sendable (texts: [String], origin: TextOrigin) throws(TextError) -> Value in
      let text = texts.last ?? ""
      if let word = Value(rawValue: text) { return word }
      let words = SettingInfo.words(of: Value.self).joined(separator: ", ")
      throw TextError("\(origin.subject): “\(printableText(of: Array(text.utf8)))” is not one of \(words)")
    }
    return Self(.word(Value.self), parse: parse, text: { $0.rawValue })
  }
}

extension Notation where Value == Path {
  package static var path: Self {
    Self(.text, parse: { texts, origin throws(TextError) in try origin.path(texts.last ?? "") })
  }

  /// A folder or a part of a bucket.
  package static var output: Self {
    Self(
      .text, parse: { texts, origin throws(TextError) in try origin.output(texts.last ?? "") },
      text: { $0.isAbsolute || $0.isURL ? "\($0)" : "./\($0)" })
  }
}

extension Notation where Value == Duration {
  package static var duration: Self {
    .text(DurationText.parse, text: DurationText.text)
  }
}

extension Notation where Value == [Glob] {
  package static var globs: Self {
    Self(
      .texts,
      parse: { texts, origin throws(TextError) in
        var globs: [Glob] = []
        for text in texts {
          do throws(GlobError) { globs.append(try Glob(bytes: origin.bytes(text))) } catch {
            throw TextError("\(origin.subject): \(error)")
          }
        }
        return globs
      })
  }
}

extension Notation where Value == [SizeSpec] {
  package static var sizes: Self {
    Self(
      .namedTexts,
      parse: { texts, origin throws(TextError) in
        var sizes: [SizeSpec] = []
        for text in texts { sizes.append(try SizeSpec(parsing: text, for: origin.subject)) }
        if let clash = sizes.clash { throw TextError("\(origin.subject): \(clash)") }
        return sizes
      },
      text: { $0.map(\.shortest).joined(separator: ", ") })
  }
}

extension Notation where Value == [ThumbnailFormat] {
  /// Names of formats. Each text may contain several, separated by commas.
  package static var formats: Self {
    Self(
      .words(ThumbnailFormat.allCases.map(\.rawValue)),
      parse: { texts, origin throws(TextError) in
        var formats: [ThumbnailFormat] = []
        for word in texts.flatMap({ $0.split(separator: ",") }) {
          guard let format = ThumbnailFormat(rawValue: word == "jpg" ? "jpeg" : String(word)) else {
            throw TextError(
              "\(origin.subject): “\(printableText(of: Array(word.utf8)))” is not one of "
                + ThumbnailFormat.allCases.map(\.rawValue).joined(separator: ", "))
          }
          if !formats.contains(format) { formats.append(format) }
        }
        if formats.isEmpty { throw TextError("\(origin.subject): no format is named") }
        return formats
      },
      text: { $0.map(\.rawValue).joined(separator: ",") })
  }
}

extension [SizeSpec] {
  /// A message about two sizes that would share a folder; nil if no two do.
  var clash: String? {
    var named: [String: SizeSpec] = [:]
    for size in self {
      guard let other = named.updateValue(size, forKey: size.name) else { continue }
      return other == size
        ? "\(size) is given twice"
        : "two sizes are called \(size.name); give them other names, as in small=\(size.unnamed)"
    }
    return nil
  }
}

extension Notation where Value: WordSet, Value.Element == Value {
  static var words: Self {
    Self(
      .words(Value.words.map(\.key)),
      parse: { texts, origin throws(TextError) in try Value(words: texts, for: origin.subject) })
  }
}

extension Notation where Value == PruneMode? {
  static var pruneMode: Self {
    Self(.wordOrFlag(PruneMode.self), parse: { texts, _ in texts.last.flatMap { PruneMode(rawValue: $0) } })
  }
}
