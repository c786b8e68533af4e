import Files

/// A number of pixels in text, such as `500M`, `1.5G` or `250000`. Units are decimal: 1M is a million.
package enum PixelCount {
  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError`` unless the number is from 1 to 1000G.
  package static func parse(_ text: String, for subject: String) throws(TextError) -> Int {
    let scales: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
    let scale = text.last.flatMap { scales[$0] }
    let digits = scale == nil ? text[...] : text.dropLast()
    guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits),
      case let pixels = (number * (scale ?? 1)).rounded(), pixels >= 1, pixels <= 1e12
    else {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not a number of pixels; write 500M or 1G (at most 1000G)"
      )
    }
    return Int(pixels)
  }

  /// A number of pixels as a user would write it.
  package static func text(_ pixels: Int) -> String {
    for (scale, unit) in [(1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")] where pixels.isMultiple(of: scale) {
      return "\(pixels / scale)\(unit)"
    }
    return "\(pixels)"
  }
}
