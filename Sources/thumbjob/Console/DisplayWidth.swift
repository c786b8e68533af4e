// The columns that text takes on a terminal. Terminals differ, mostly in emoji that consist of several scalars. So each
// scalar counts by itself, and those that some terminals show wide count as wide: a line may turn out shorter than the
// terminal is wide, but never longer.

extension StringProtocol {
  /// The most columns that a terminal needs for the text.
  var displayWidth: Int {
    utf8.allSatisfy { $0 < 0x80 } ? utf8.count : unicodeScalars.reduce(0) { $0 + $1.displayWidth }
  }

  /// The text, or as much of its beginning as fits with an ellipsis.
  func fitted(to columns: Int, _ ellipsis: String) -> String {
    if displayWidth <= columns { return String(self) }
    return Self.characters(self, within: columns - ellipsis.displayWidth) + ellipsis.prefix(Swift.max(0, columns))
  }

  /// The text, or as much of its end as fits with an ellipsis: the end of a path says more than its beginning.
  func fittedAtEnd(to columns: Int, _ ellipsis: String) -> String {
    if displayWidth <= columns { return String(self) }
    let end = Self.characters(reversed(), within: columns - ellipsis.displayWidth)
    return ellipsis.prefix(Swift.max(0, columns)) + String(end.reversed())
  }

  /// As many characters as fit.
  private static func characters(_ characters: some Sequence<Character>, within columns: Int) -> String {
    var (result, room) = ("", columns)
    for character in characters {
      room -= String(character).displayWidth
      if room < 0 { break }
      result.append(character)
    }
    return result
  }
}

extension Unicode.Scalar {
  fileprivate var displayWidth: Int {
    if value < 0x300 { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark:
      // The emoji selector makes some characters wide.
      return self == "\u{FE0F}" ? 1 : 0
    case .format: return 0
    default: return isWide ? 2 : 1
    }
  }

  /// Wide or full-width in Unicode Standard Annex 11, or an emoji. It covers whole blocks, so that
  /// characters of later versions are included.
  private var isWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
      0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD:
      true
    default: properties.isEmoji
    }
  }
}
