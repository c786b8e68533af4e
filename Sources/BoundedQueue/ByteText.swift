/// Bytes as people read them. On its own, because this product depends on Foundation and `Locking` only.
enum ByteText {
  /// - Parameter rule: how to round what does not come out even.
  static func mebibytes(_ bytes: Int, rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) -> String {
    let tenths = (Double(bytes) / 1_048_576 * 10).rounded(rule) / 10
    return tenths >= 100 || tenths == tenths.rounded() ? "\(Int(tenths.rounded())) MiB" : "\(tenths) MiB"
  }
}
