import Foundation

/// Formats amounts of bytes for people. There are four forms, because limits, memory, comparisons and files need
/// different precision.
package enum ByteCount {
  /// A limit, in the largest binary unit that fits, with one decimal unless it is whole: `341.3 MiB`, `8 GiB`.
  package static func limit(_ bytes: Int) -> String {
    var (value, unit) = (Double(bytes), 0)
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
    let tenths = (value * 10).rounded() / 10
    return tenths == tenths.rounded() ? "\(Int(tenths)) \(units[unit])" : "\(tenths) \(units[unit])"
  }

  /// Memory in use or reserved, in MiB or a larger unit, with one decimal below 100: `0.4 MiB`, `57.5 MiB`, `256 MiB`.
  package static func memory(_ bytes: Int) -> String {
    let (value, unit) = binary(bytes)
    return value + unit
  }

  /// A part of an amount of memory: `40 of 256 MiB`, `512 MiB of 2 GiB`.
  package static func memory(_ bytes: Int, of all: Int) -> String {
    let ((value, unit), whole) = (binary(bytes), binary(all))
    return value + (unit == whole.unit ? "" : unit) + " of " + whole.value + whole.unit
  }

  /// Sampled memory, in whole MiB because samples are not more precise, and in GiB from 1000 MiB: `74 MiB`, `2.8 GiB`.
  package static func whole(_ bytes: Int) -> String {
    let mebibytes = Double(bytes) / 1_048_576
    return mebibytes < 1000 ? "\(Int(mebibytes.rounded())) MiB" : String(format: "%.1f GiB", mebibytes / 1024)
  }

  /// The size of a file or a rate of reading, in decimal units as disks and file managers use them: `58.1 MB`.
  package static func file(_ bytes: Int) -> String {
    var value = Double(bytes)
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 999.5 || unit == "GB" { return unit == "B" ? "\(bytes) B" : "\(Units.decimal(value)) \(unit)" }
      value /= 1000
    }
    return "\(bytes) B"
  }

  private static func binary(_ bytes: Int) -> (value: String, unit: String) {
    var value = Double(bytes) / 1_048_576
    for unit in [" MiB", " GiB"] {
      if value < 1024 { return (withoutZero(value), unit) }
      value /= 1024
    }
    return (withoutZero(value), " TiB")
  }

  /// Without a final `.0`.
  private static func withoutZero(_ value: Double) -> String {
    let text = Units.decimal(value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
