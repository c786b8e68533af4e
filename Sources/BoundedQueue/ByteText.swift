/// Formats byte counts for people. The queue has its own formatter, because it depends on Foundation and `Locking`
/// only.
enum ByteText {
  /// - Parameter rule: how to round to a tenth of a mebibyte. From 100 MiB on, the result is then rounded to the
  ///   nearest mebibyte.
  static func mebibytes(_ bytes: Int, rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> String {
    let tenths = (Double(bytes) / 1_048_576 * 10).rounded(rule) / 10
    return tenths >= 100 || tenths == tenths.rounded() ? "\(Int(tenths.rounded())) MiB" : "\(tenths) MiB"
  }
}
