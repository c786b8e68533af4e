import CShaping

/// Shows texts in any script with the fonts of the system, for what ``WinAnsi`` lacks. Only such a text loads libraries and
/// opens fonts.
///
/// A text is divided into runs of one font, script and direction. The first font is that of the system for Latin letters;
/// the others are found when a character needs them. HarfBuzz shapes each run. Each font numbers the glyphs that are shown
/// (``EmbeddedFont``), and is written at the end of the file with these only. So the memory depends on the number of
/// different glyphs, which is limited, and not on that of the texts.
///
/// The same texts in the same order give the same codes.
final class SystemFonts: @unchecked Sendable {  // only the operation that writes the sheet uses it
  /// In the order in which they were found.
  private(set) var fonts: [EmbeddedFont] = []
  /// The texts of which something was shown as `?`.
  var unshown: UnshownTexts?

  /// The characters that no font has: a bit for each scalar.
  private var missing: [UInt64] = []
  private var places: Set<FontPlace> = []
  /// Why the libraries cannot be used; nil if they can.
  private let problem: String?

  /// The most fonts of a sheet.
  private static let limit = 16
  /// The most glyphs of a line.
  private static let glyphLimit = 400

  /// Loads the libraries.
  init() { problem = cshaping_load().map { String(cString: $0) } }

  /// The most memory that shaping and the subsets take, in bytes. A subset of 8,000 Chinese characters, which is the most
  /// demanding, was measured at 11 MiB.
  static let bytesNeeded = 16 << 20

  /// A text that is at most as wide as the limit; nil if it cannot be shown, or has no glyphs. If it is too wide, an
  /// ellipsis replaces its middle, and its extension stays whole.
  ///
  /// - Parameter limit: in thousandths of the size of the text.
  func line(_ text: String, limit: Double) -> ShapedLine? {
    if let problem {
      note(text, reason: problem)
      return nil
    }
    let characters = Array(text)
    guard let whole = shape(characters[...]) else {
      note(text, reason: nil)
      return nil
    }
    if whole.lacksCharacters { note(text, reason: nil) }
    if whole.width <= limit { return whole.line }
    let dot = characters.lastIndex(of: ".") ?? 0
    let hasExtension = dot > 0 && (2...6).contains(characters.count - dot)
    let (rest, ending) =
      hasExtension ? (characters[..<dot], characters[dot...]) : (characters[...], [])
    return longest(rest.count) { count in
      rest.prefix(count - count / 2) + ["…"] + rest.suffix(count / 2) + ending
    }.flatMap { $0.width <= limit ? $0.line : nil }
      ?? longest(characters.count) { characters.prefix($0) + ["…"] }.flatMap {
        $0.width <= limit ? $0.line : nil
      }

    /// The widest of the shortened texts that is not too wide, by bisection; otherwise the shortest.
    func longest(_ count: Int, shortened: (Int) -> ArraySlice<Character>) -> Shaped? {
      var (low, high) = (0, count)
      while low < high {
        let middle = (low + high + 1) / 2
        if let shaped = shape(shortened(middle)), shaped.width <= limit {
          low = middle
        } else {
          high = middle - 1
        }
      }
      return shape(shortened(low))
    }
  }

  private func note(_ text: String, reason: String?) {
    unshown = UnshownTexts(
      count: (unshown?.count ?? 0) + 1, first: unshown?.first ?? text,
      reason: unshown?.reason ?? reason)
  }

  // MARK: Shaping

  private struct Shaped {
    var line = ShapedLine()
    var width = 0.0
    var lacksCharacters = false
  }

  /// A part of a text in one font, script and direction.
  private struct Run {
    let font: Int
    let script: UInt32
    let level: Int8
    var range: Range<Int>
  }

  /// Shapes a text; nil if it has too many glyphs, or a font has too many in the whole sheet.
  private func shape(_ characters: ArraySlice<Character>) -> Shaped? {
    var scalars: [UInt32] = []
    var used: [Int] = []
    var result = Shaped()
    for character in characters {
      var values = character.unicodeScalars.map { character.isControl ? 0xFFFD : $0.value }
      var font = self.font(for: values)
      if font == nil {
        result.lacksCharacters = true
        values = [0x3F]
        font = self.font(for: values)
      }
      guard let font else { return nil }
      scalars += values
      used += repeatElement(font, count: values.count)
    }
    guard let runs = runs(scalars, used) else { return nil }
    for run in runs {
      guard add(run, of: scalars, to: &result) else { return nil }
    }
    return result
  }

  /// The runs of a text in the order from left to right; nil if there is no memory.
  private func runs(_ scalars: [UInt32], _ fonts: [Int]) -> [Run]? {
    var levels = [Int8](repeating: 0, count: scalars.count)
    guard cshaping_levels(scalars, scalars.count, &levels) else { return nil }
    var runs: [Run] = []
    for (index, scalar) in scalars.enumerated() {
      let script = cshaping_script(scalar)
      if let last = runs.last, last.font == fonts[index], last.level == levels[index],
        script == 0 || script == last.script || last.script == 0
      {
        runs[runs.count - 1] = Run(
          font: last.font, script: script == 0 ? last.script : script, level: last.level,
          range: last.range.lowerBound..<(index + 1))
      } else {
        runs.append(
          Run(font: fonts[index], script: script, level: levels[index], range: index..<(index + 1)))
      }
    }
    reorder(&runs)
    return runs
  }

  /// Puts runs in the order from left to right: from the highest level down to the lowest odd one, each sequence of runs
  /// that have this level or a higher one is reversed.
  ///
  /// *Source*: Unicode Standard Annex #9, rule L2.
  private func reorder(_ runs: inout [Run]) {
    var level = runs.map(\.level).max() ?? 0
    while level > 0 {
      var start = 0
      while start < runs.count {
        let end = runs[start...].firstIndex { $0.level < level } ?? runs.count
        runs[start..<end].reverse()
        start = end + 1
      }
      level -= 1
    }
  }

  private func add(_ run: Run, of scalars: [UInt32], to result: inout Shaped) -> Bool {
    let font = fonts[run.font]
    guard
      let glyphs = font.shape(
        scalars, run.range, script: run.script, isRightToLeft: run.level % 2 == 1),
      result.line.glyphs.count + glyphs.count <= Self.glyphLimit
    else { return false }
    let starts = Set(glyphs.map { Int($0.cluster) }).sorted() + [run.range.upperBound]
    var told: Set<Int> = []
    for glyph in glyphs {
      let start = Int(glyph.cluster)
      let end = starts.first { $0 > start } ?? run.range.upperBound
      // What several glyphs stand for is told once.
      let text = told.insert(start).inserted ? scalars[start..<end] : []
      guard let code = font.code(of: glyph.glyph, text: text) else { return false }
      result.line.glyphs.append(
        ShapedLine.Glyph(
          font: run.font, code: code, x: result.width + glyph.x, y: glyph.y,
          advance: font.advance(of: code)))
      result.width += glyph.advance
    }
    result.line.width = result.width
    if run.level % 2 == 1 { result.line.hasRightToLeft = true }
    return true
  }

  // MARK: Finding fonts

  /// The first font that has all scalars of a character; nil if none has.
  private func font(for scalars: [UInt32]) -> Int? {
    let needed = scalars.filter {
      Unicode.Scalar($0)?.properties.isDefaultIgnorableCodePoint != true
    }
    func known() -> Int? { fonts.firstIndex { font in needed.allSatisfy(font.has) } }
    if fonts.isEmpty { open([0x41], ofPictures: false) }
    if needed.contains(where: isMissing) { return nil }
    if let known = known() { return known }
    for ofPictures in [false, true] {
      open(needed, ofPictures: ofPictures)
      if let known = known() { return known }
    }
    // An accent may be missing where the letter is not.
    for scalar in needed where !fonts.contains(where: { $0.has(scalar) }) { setMissing(scalar) }
    return nil
  }

  /// Opens the font of the system that has the most of these scalars, unless it is open.
  ///
  /// - Parameter ofPictures: whether its glyphs are coloured pictures, as of emoji, and no outlines.
  private func open(_ scalars: [UInt32], ofPictures: Bool) {
    guard fonts.count < Self.limit else { return }
    var place = cshaping_place()
    guard cshaping_find(scalars, scalars.count, ofPictures, &place),
      places.insert(FontPlace(place)).inserted,
      let font = EmbeddedFont(at: place, name: "T\(fonts.count + 1)")
    else { return }
    fonts.append(font)
  }

  private func isMissing(_ scalar: UInt32) -> Bool {
    !missing.isEmpty && missing[Int(scalar) / 64] >> UInt64(scalar % 64) & 1 == 1
  }

  private func setMissing(_ scalar: UInt32) {
    if missing.isEmpty { missing = [UInt64](repeating: 0, count: 0x110000 / 64) }
    missing[Int(scalar) / 64] |= 1 << UInt64(scalar % 64)
  }
}

extension Character {
  fileprivate var isControl: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}

/// A line of glyphs from left to right.
struct ShapedLine {
  struct Glyph {
    /// The index of its font.
    let font: Int
    let code: UInt16
    /// Where it is, from the line's beginning, in thousandths of the size.
    let x: Double
    let y: Double
    /// The width that the file says it has.
    let advance: Double
  }

  fileprivate(set) var glyphs: [Glyph] = []
  fileprivate(set) var width = 0.0
  /// Whether a part of it runs from right to left.
  fileprivate(set) var hasRightToLeft = false
}

/// The texts of a sheet of which something is shown as `?`.
package struct UnshownTexts: Sendable, Hashable {
  package let count: Int
  /// One of them.
  package let first: String
  /// Why none could be shown; nil if no font of the system has the characters.
  package let reason: String?
}
