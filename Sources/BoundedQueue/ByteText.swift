/// Bytes as people read them.
enum ByteText {
  static func mebibytes(_ bytes: Int) -> String {
    let tenths = (Double(bytes) / 1_048_576 * 10).rounded() / 10
    return tenths >= 100 || tenths == tenths.rounded() ? "\(Int(tenths.rounded())) MiB" : "\(tenths) MiB"
  }
}
