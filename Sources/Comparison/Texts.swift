import Foundation

// Figures and words for tables and pages.

/// A time: `4 ms`, `0.35 s`, `34.1 s`.
func text(seconds: Double) -> String {
  if seconds < 0.1 { return "\(Int((seconds * 1000).rounded(.up))) ms" }
  return String(format: seconds < 1 ? "%.2f s" : "%.1f s", seconds)
}

/// Counts: `2000` if all are equal, else their range, `28–35`.
func text(_ counts: [Int]) -> String {
  let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
  return least == most ? "\(most)" : "\(least)–\(most)"
}

/// A text as HTML and SVG, with the characters of markup escaped.
func escaped(_ text: some StringProtocol) -> String {
  text.reduce(into: "") { result, character in
    switch character {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    default: result.append(character)
    }
  }
}
