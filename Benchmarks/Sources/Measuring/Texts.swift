import Foundation

/// Three digits and a unit, such as `1.25 µs`.
public func durationText(nanoseconds: Double) -> String {
  let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
  let (unit, size) = units.last { nanoseconds >= $0.1 } ?? units[0]
  return "\(digits(nanoseconds / size)) \(unit)"
}

/// Three digits and a thousand's letter, such as `134 k`.
public func countText(_ count: Double) -> String {
  let units = [("", 1.0), (" k", 1e3), (" M", 1e6), (" G", 1e9)]
  let (unit, size) = units.last { count >= $0.1 } ?? units[0]
  return digits(count / size) + unit
}

private func digits(_ value: Double) -> String {
  String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
}

/// A table in Markdown.
public func table(_ headings: [String], _ rows: [[String]]) -> String {
  ([headings, headings.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
    .joined(separator: "\n")
}
