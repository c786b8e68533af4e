/// Which part of a picture stays in view when it is cropped to fill a box. Positions apply to the picture as displayed,
/// after EXIF orientation.
///
/// | text | what stays in view |
/// | --- | --- |
/// | `centre` (or `center`) | the middle; this is the default |
/// | `top` · `bottom` · `left` · `right` | that edge; along the other axis, the middle |
/// | `top-left` and the other corners | that corner |
/// | `0.3,0.2` | the point at 0.3 of the width, from the left, and 0.2 of the height, from the top |
/// | `attention` | the part with the most details |
///
/// A point is brought to the middle of the thumbnail, or as near to it as the edges of the picture allow. So `top` is the
/// same as `0.5,0`.
public enum CropPosition: Sendable, Hashable, CustomStringConvertible {
  /// A point, in ten-thousandths of the picture's width and height from its top left corner: 0 to 10,000.
  case point(x: Int, y: Int)
  /// The part in which neighbouring areas differ most in brightness and colour (`Attention`).
  case attention

  public static let centre = point(x: whole / 2, y: whole / 2)

  /// The whole of a side.
  static let whole = 10_000
  private static let decimals = 4

  /// The words for points; the first of each point is the one that descriptions use.
  private static let words: KeyValuePairs<String, CropPosition> = [
    "centre": .centre, "center": .centre,
    "top": .point(x: whole / 2, y: 0), "bottom": .point(x: whole / 2, y: whole),
    "left": .point(x: 0, y: whole / 2), "right": .point(x: whole, y: whole / 2),
    "top-left": .point(x: 0, y: 0), "top-right": .point(x: whole, y: 0),
    "bottom-left": .point(x: 0, y: whole), "bottom-right": .point(x: whole, y: whole),
    "attention": .attention,
  ]

  /// The position as a user would type it, such as `top` or `0.3,0.2`.
  public var description: String {
    if let word = Self.words.first(where: { $0.value == self })?.key { return word }
    guard case .point(let x, let y) = self else { preconditionFailure("every other position is a word") }
    return "\(Self.decimal(x)),\(Self.decimal(y))"
  }

  /// The position as a part of the name of a folder, such as `top` or `0.3-0.2`.
  var name: String { String(description.map { $0 == "," ? "-" : $0 }) }

  /// Parses a position.
  ///
  /// - throws: ``ParsingError``.
  init(parsing text: some StringProtocol) throws(ParsingError) {
    if let word = Self.words.first(where: { $0.key == text })?.value {
      self = word
      return
    }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2C }) else {
      throw ParsingError(
        reason:
          "“\(text)” is not a position, which is top, bottom, left, right, a corner such as top-left, attention, or a "
          + "point such as 0.3,0.2", example: "300x200^top")
    }
    guard parts.count == 2 else {
      throw .point("“\(text)” is not a point, which is two fractions of the width and the height")
    }
    self = .point(x: try Self.fraction(parts[0]), y: try Self.fraction(parts[1]))
  }

  /// Why a text is not a position.
  struct ParsingError: Error {
    let reason: String
    /// A valid size with a position.
    let example: String

    static func point(_ reason: String) -> Self { Self(reason: reason, example: "300x200^0.3,0.2") }
  }

  /// A fraction in ten-thousandths, without rounding.
  private static func fraction(_ text: some StringProtocol) throws(ParsingError) -> Int {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let ones = parts[0].isEmpty && parts.count == 2 ? 0 : Int(parts[0]),
      parts.count == 1 || !parts[1].isEmpty
    else {
      throw .point("“\(text)” is not a fraction from 0 to 1")
    }
    let digits = parts.count == 2 ? String(parts[1]) : ""
    guard digits.count <= decimals else { throw .point("“\(text)” has more than \(decimals) decimals") }
    guard let part = Int(digits + String(repeating: "0", count: decimals - digits.count)), ones <= 1,
      ones * whole + part <= whole
    else { throw .point("\(text) is outside 0 to 1") }
    return ones * whole + part
  }

  private static func decimal(_ value: Int) -> String {
    let (ones, part) = value.quotientAndRemainder(dividingBy: whole)
    if part == 0 { return "\(ones)" }
    var digits = String(String(whole + part).dropFirst())
    while digits.last == "0" { digits.removeLast() }
    return "\(ones).\(digits)"
  }
}
