import Files

/// Durations in text, such as `90s`, `5m`, `1h30m` and `250ms`.
package enum DurationText {
  private static let units: [(name: String, milliseconds: Int)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError`` unless the text consists of whole numbers with units, the largest unit first, and their
  ///   sum is above zero and at most a year (366 days).
  package static func parse(_ text: String, for subject: String) throws(TextError) -> Duration {
    let problem = TextError(
      "\(subject): “\(printableText(of: Array(text.utf8)))” is not a duration; write 90s, 5m, 1h30m or 250ms")
    var rest = text[...]
    var total = 0
    var last = Int.max
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      let name = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard let count = Int(digits), count <= 1_000_000_000,
        let unit = units.first(where: { $0.name == name })?.milliseconds, unit < last
      else { throw problem }
      total += count * unit
      last = unit
    }
    guard last != .max else { throw problem }
    guard total > 0 else { throw TextError("\(subject): must be more than zero; the longest is 366d") }
    guard total <= 366 * 86_400_000 else { throw TextError("\(subject): “\(text)” is more than a year, 366d") }
    return .milliseconds(total)
  }

  /// A duration of whole milliseconds as a user would write it.
  package static func text(_ duration: Duration) -> String {
    var rest = Int(duration / .milliseconds(1))
    var text = ""
    for unit in units.reversed() where rest >= unit.milliseconds {
      text += "\(rest / unit.milliseconds)\(unit.name)"
      rest %= unit.milliseconds
    }
    return text
  }
}
