/// Formats byte counts for people. The queue has its own formatter, because it depends on Foundation and `Locking`
/// only.
enum ByteText {
  /// - Parameter rule: how to round: to a tenth of a mebibyte, and from 100 MiB on to a whole one.
  static func mebibytes(_ bytes: Int, rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> String {
    let mebibytes = Double(bytes) / 1_048_576
    let rounded = mebibytes >= 100 ? mebibytes.rounded(rule) : (mebibytes * 10).rounded(rule) / 10
    return rounded == rounded.rounded() ? "\(Int(rounded)) MiB" : "\(rounded) MiB"
  }
}
