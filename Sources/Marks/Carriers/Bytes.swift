extension ArraySlice<UInt8> {
  /// The number in some bytes, the most significant first; nil if there are fewer.
  ///
  /// - Parameters:
  ///   - offset: from the first byte of the slice.
  ///   - count: 0 to 8; of more than seven, the lowest bits count.
  func bigEndian(at offset: Int, count: Int) -> Int? {
    let bytes = dropFirst(offset).prefix(count)
    return bytes.count == count ? bytes.reduce(0) { $0 << 8 | Int($1) } : nil
  }

  /// The number in four bytes, the least significant first; nil if there are fewer.
  func littleEndian(at offset: Int) -> Int? {
    let bytes = dropFirst(offset).prefix(4)
    return bytes.count == 4 ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
  }
}

extension [UInt8] {
  /// Four bytes of a number, the most significant first.
  static func bigEndian(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 0xFF) } }

  /// Four bytes of a number, the least significant first.
  static func littleEndian(_ value: Int) -> [UInt8] { bigEndian(value).reversed() }
}
