import Files

/// Spans of time as people write them: `90s`, `5m`, `1h30m`, `250ms`.
public enum DurationText {
  private static let units: [(name: String, milliseconds: Int)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  /// - Parameter subject: what is spoken of in the error: an option or a key.
  /// - Throws: `TextProblem` for anything but whole numbers with units, largest first, more than nothing in sum and at
  ///   most a year.
  public static func parse(_ text: String, for subject: String) throws(TextProblem) -> Duration {
    let problem = TextProblem(
      "\(subject): “\(printableText(of: Array(text.utf8)))” is not a span of time; write 90s, 5m, 1h30m or 250ms")
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
    guard total > 0 else { throw TextProblem("\(subject): must be more than nothing; leave it out for no limit") }
    guard total <= 366 * 86_400_000 else { throw TextProblem("\(subject): “\(text)” is more than a year") }
    return .milliseconds(total)
  }
}
