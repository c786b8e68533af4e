import JobSettings

extension Int {
  /// - Throws: `TextError` that names the option if the number is not in `range`.
  func checked(_ range: ClosedRange<Int>, for option: String) throws(TextError) -> Int {
    if range.contains(self) { return self }
    throw TextError("\(option): \(self) is not within \(range.lowerBound) to \(range.upperBound)")
  }
}
