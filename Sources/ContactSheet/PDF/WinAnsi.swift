import Foundation

/// The character set of the sheet's font, WinAnsiEncoding: Windows code page 1252, for the languages of western Europe.
///
/// *Source*: ISO 32000-1, annex D.
enum WinAnsi {
  static let ellipsis: UInt8 = 0x85

  /// The codes of a text. A character that the set lacks becomes `?`; so do control characters.
  static func codes(_ text: String) -> [UInt8] {
    text.map { code($0) ?? UInt8(ascii: "?") }
  }

  /// Whether a text has a character that the set lacks, and that is no control character.
  static func needsOtherFont(_ text: String) -> Bool {
    text.contains { character in
      code(character) == nil && character.unicodeScalars.contains { $0.value >= 0xA0 }
    }
  }

  private static func code(_ character: Character) -> UInt8? {
    var scalars = character.unicodeScalars
    if scalars.count > 1 {
      // File names from macOS have letters and accents apart.
      scalars = String(character).precomposedStringWithCanonicalMapping.unicodeScalars
    }
    guard let scalar = scalars.first, scalars.count == 1 else { return nil }
    switch scalar.value {
    case 0x20...0x7E, 0xA0...0xFF: return UInt8(scalar.value)
    default: return others[scalar]
    }
  }

  /// The characters at 0x80 to 0x9F, some of which are not used.
  private static let others: [Unicode.Scalar: UInt8] = {
    let scalars = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ".unicodeScalars
    return Dictionary(uniqueKeysWithValues: zip(scalars, 0x80...0x9F).filter { $0.0 != "\0" })
  }()
}
