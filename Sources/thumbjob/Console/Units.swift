import Foundation

/// Numbers as people read them.
enum Units {
  /// Bytes in decimal units: `58.1 MB`.
  static func bytes(_ count: Int) -> String {
    var value = Double(count)
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 999.5 || unit == "GB" { return unit == "B" ? "\(count) B" : "\(decimal(value)) \(unit)" }
      value /= 1000
    }
    return "\(count) B"
  }

  /// Memory in binary units, as `--memory` takes it: `57.5 MiB`.
  static func memory(_ bytes: Int) -> String {
    let (value, unit) = binary(bytes)
    return value + unit
  }

  /// `40 of 256 MiB`.
  static func memory(_ bytes: Int, of all: Int) -> String {
    let ((value, unit), whole) = (binary(bytes), binary(all))
    return value + (unit == whole.unit ? "" : unit) + " of " + whole.value + whole.unit
  }

  private static func binary(_ bytes: Int) -> (value: String, unit: String) {
    var value = Double(bytes) / 1_048_576
    for unit in [" MiB", " GiB"] {
      if value < 1024 { return (whole(value), unit) }
      value /= 1024
    }
    return (whole(value), " TiB")
  }

  /// Without a nought behind the point.
  private static func whole(_ value: Double) -> String {
    let text = decimal(value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// A span of time: `0.4 s`, `2 min 5 s`, `3 h 20 min`.
  static func time(_ duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    if seconds < 60 { return "\(decimal(seconds)) s" }
    let whole = Int(seconds.rounded())
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3600) h \(whole % 3600 / 60) min"
  }

  /// A number with three digits that mean something.
  static func decimal(_ value: Double) -> String {
    value < 99.95 ? String(format: "%.1f", value) : String(format: "%.0f", value)
  }

  /// `1 source`, `2 sources`.
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
