import Foundation

/// The median and the extremes of a quantity that was measured in several rounds.
public struct Spread: Encodable, Sendable, Equatable {
  /// The middle value; of an even number of values, the mean of the two in the middle.
  public let median: Double
  public let minimum: Double
  public let maximum: Double

  /// Nil if there are no values.
  init?(_ values: [Double]) {
    let values = values.sorted()
    guard let first = values.first, let last = values.last else { return nil }
    (minimum, maximum) = (first, last)
    median = (values[(values.count - 1) / 2] + values[values.count / 2]) / 2
  }

  /// Whether a value can be in both ranges.
  func overlaps(_ other: Spread) -> Bool { minimum <= other.maximum && other.minimum <= maximum }
}

/// A time or a range of times with one unit: `11.2 s`, `10.9–11.9 s`, `0.09–0.35 s`, `4–15 ms`.
func text(range: Spread) -> String {
  let (shortest, longest) = (text(seconds: range.minimum), text(seconds: range.maximum))
  if shortest == longest { return longest }
  let isMixed = shortest.hasSuffix(" ms") && !longest.hasSuffix(" ms")
  let start = isMixed ? String(format: "%.2f", range.minimum) : "\(shortest.prefix { $0 != " " })"
  return "\(start)–\(longest)"
}
