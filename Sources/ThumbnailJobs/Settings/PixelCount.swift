import Files

/// Numbers of pixels as people write them: `500M`, `1G`, `1.5G`, `250000`. Decimal: 1M is a million.
public enum PixelCount {
  /// - Parameter subject: what is spoken of in the error: an option or a key.
  /// - Throws: `TextProblem` for anything that is not 1 to 1000 G.
  public static func parse(_ text: String, for subject: String) throws(TextProblem) -> Int {
    let scales: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
    let scale = text.last.flatMap { scales[$0] }
    let digits = scale == nil ? text[...] : text.dropLast()
    guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits),
      case let pixels = (number * (scale ?? 1)).rounded(), pixels >= 1, pixels <= 1e12
    else {
      throw TextProblem(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not a number of pixels; write 500M or 1G (at most 1000G)"
      )
    }
    return Int(pixels)
  }
}
