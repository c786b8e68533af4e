import Foundation

/// Numbers with units as text. For bytes see `ByteCount`.
package enum Units {
  /// A duration: `0.4 s`, `2 min 5 s`, `3 h 20 min`.
  package static func time(_ duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    if seconds < 60 { return "\(decimal(seconds)) s" }
    let whole = Int(seconds.rounded())
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3600) h \(whole % 3600 / 60) min"
  }

  /// A number with one decimal place below 100 and none from 100 on.
  package static func decimal(_ value: Double) -> String {
    value < 99.95 ? String(format: "%.1f", value) : String(format: "%.0f", value)
  }

  /// `1 source`, `2 sources`.
  package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
