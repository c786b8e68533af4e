import Files

/// An amount of memory in text, such as `256M`, `1.5G` or `25%`. Units are binary: 1M is 1,048,576 bytes.
package enum MemorySize: Sendable, Hashable {
  case bytes(Int)
  /// The share of the memory that this process may use: above 0, at most 100.
  case percent(Double)

  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError`` unless the text is an amount from 1M to 1024T or a share.
  package init(parsing text: String, for subject: String) throws(TextError) {
    let scales: [Character: Double] = ["K": 0x1p10, "M": 0x1p20, "G": 0x1p30, "T": 0x1p40, "%": 1]
    let unit = text.last.flatMap { $0.uppercased().first }.flatMap { scales[$0] == nil ? nil : $0 }
    let digits = unit == nil ? text[...] : text.dropLast()
    let number = digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(digits) : nil
    if unit == "%", let number, number > 0, number <= 100 {
      self = .percent(number)
    } else if let number, unit != "%", case let bytes = number * (unit.flatMap { scales[$0] } ?? 1), bytes >= 0x1p20,
      bytes <= 0x1p50
    {
      self = .bytes(Int(bytes))
    } else {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not an amount of memory; write 256M, 1G or 25% "
          + "(at least 1M)")
    }
  }

  /// The bytes, of which a share is one of the memory that this process may use.
  package func bytes(of limit: Int) -> Int {
    switch self {
    case .bytes(let bytes): bytes
    case .percent(let share): Swift.max(1 << 20, Int(Double(limit) * share / 100))
    }
  }

  /// A number of bytes as a user would write it.
  package static func text(_ bytes: Int) -> String {
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] where bytes.isMultiple(of: 1 << shift) {
      return "\(bytes >> shift)\(unit)"
    }
    return "\(bytes)"
  }
}
