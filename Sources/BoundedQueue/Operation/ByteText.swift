/// Formats byte counts for people. The queue has its own formatter, because it depends on Foundation and `Locking`
/// only.
enum ByteText {
  private static let units = [(name: "MiB", bytes: 1_048_576), (name: "KiB", bytes: 1024), (name: "bytes", bytes: 1)]

  /// A count in MiB, or in a smaller unit if it is less than one MiB.
  ///
  /// - Parameter rule: how to round: to a tenth of the unit, and from 100 of them on to a whole one.
  static func text(_ bytes: Int, rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> String {
    let unit = unit(of: bytes)
    return "\(number(bytes, of: unit.bytes, rounded: rule)) \(unit.name)"
  }

  /// A part of a count, in the unit of the whole, such as `1.5 of 2 MiB`.
  static func text(_ part: Int, of whole: Int) -> String {
    let unit = unit(of: whole)
    return "\(number(part, of: unit.bytes)) of \(text(whole))"
  }

  private static func unit(of bytes: Int) -> (name: String, bytes: Int) {
    units.first { $0.bytes <= bytes } ?? (name: "bytes", bytes: 1)
  }

  private static func number(
    _ bytes: Int, of unit: Int, rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
  ) -> String {
    let number = Double(bytes) / Double(unit)
    let rounded = number >= 100 ? number.rounded(rule) : (number * 10).rounded(rule) / 10
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
