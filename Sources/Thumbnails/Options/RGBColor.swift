/// A colour of sRGB.
public struct RGBColor: Sendable, Hashable, CustomStringConvertible {
  public let red: UInt8
  public let green: UInt8
  public let blue: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  public static let white = RGBColor(red: 255, green: 255, blue: 255)
  public static let black = RGBColor(red: 0, green: 0, blue: 0)

  /// Reads `#a1b2c3`, `#abc`, the same without `#`, `white` or `black`; nil for any other text.
  public init?(parsing text: String) {
    switch text.lowercased() {
    case "white": self = .white
    case "black": self = .black
    case let word:
      var digits = word.hasPrefix("#") ? String(word.dropFirst()) : word
      if digits.utf8.count == 3 { digits = String(digits.flatMap { [$0, $0] }) }
      guard digits.utf8.count == 6, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
        let number = Int(digits, radix: 16)
      else {
        return nil
      }
      self.init(
        red: UInt8(number >> 16), green: UInt8(number >> 8 & 0xFF), blue: UInt8(number & 0xFF))
    }
  }

  /// `#a1b2c3`, as in style sheets.
  public var description: String {
    let digits = String(UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue), radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}
