import Foundation

/// How PDF writes numbers and strings.
///
/// *Source*: ISO 32000-1, 7.3.3, 7.3.4 and 7.9.2.
enum PDFSyntax {
  /// The most UTF-16 units of a text that a string contains. File names have at most 255.
  static let textLimit = 512

  /// A number with up to four decimals and without an exponent, the same for every locale.
  static func number(_ value: Double) -> String {
    let scaled = Int((value * 10_000).rounded())
    let (whole, decimals) = abs(scaled).quotientAndRemainder(dividingBy: 10_000)
    let sign = scaled < 0 ? "-" : ""
    if decimals == 0 { return "\(sign)\(whole)" }
    var digits = String(repeating: "0", count: 4 - "\(decimals)".count) + "\(decimals)"
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(sign)\(whole).\(digits)"
  }

  /// A string of codes in the font's encoding, in ASCII.
  static func literal(_ codes: [UInt8]) -> String {
    var result = "("
    for code in codes {
      switch code {
      case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\\"): result += "\\" + String(UnicodeScalar(code))
      case 0x20..<0x7F: result.unicodeScalars.append(UnicodeScalar(code))
      default: result += "\\" + String(repeating: "0", count: code < 8 ? 2 : code < 64 ? 1 : 0) + String(code, radix: 8)
      }
    }
    return result + ")"
  }

  /// A text string: UTF-16 with a byte order mark, in hexadecimal digits, so that no character needs an escape.
  static func text(_ text: String) -> String {
    var result = "<FEFF"
    for unit in clipped(text).utf16 {
      // ESC would begin the name of a language, which readers do not show.
      result += hexadecimal(unit == 0x1B ? 0xFFFD : unit)
    }
    return result + ">"
  }

  /// Four digits.
  static func hexadecimal(_ number: UInt16) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// The beginning of a text, at most ``textLimit`` UTF-16 units.
  static func clipped(_ text: String) -> String {
    if text.utf16.count <= textLimit { return text }
    var result = ""
    var room = textLimit
    for scalar in text.unicodeScalars {
      room -= scalar.utf16.count
      if room < 0 { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}
