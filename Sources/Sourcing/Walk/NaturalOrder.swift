import Files

/// The order in which people expect names: by bytes, but numbers by their value, so that `IMG_2` comes before `IMG_10`.
package enum NaturalOrder {
  /// Whether the first name comes before the second. Names that differ only in leading zeros are ordered by bytes, so
  /// different names are never equal.
  static func precedes(_ first: Path, _ second: Path) -> Bool {
    let (a, b) = (first.bytes, second.bytes)
    var (i, j) = (a.startIndex, b.startIndex)
    while i < a.endIndex, j < b.endIndex {
      if isDigit(a[i]), isDigit(b[j]) {
        let (left, right) = (number(in: a, from: &i), number(in: b, from: &j))
        if left.count != right.count { return left.count < right.count }
        if let difference = zip(left, right).first(where: { $0 != $1 }) { return difference.0 < difference.1 }
      } else {
        if a[i] != b[j] { return a[i] < b[j] }
        i += 1
        j += 1
      }
    }
    if i == a.endIndex, j == b.endIndex { return a.lexicographicallyPrecedes(b) }
    return i == a.endIndex
  }

  /// Bytes whose order is that in which a sorted walk comes to paths. Those of a folder are the beginning of those of all
  /// paths below it, and end with a zero byte.
  package static func key(of path: Path) -> [UInt8] {
    path.names.flatMap { name in
      let bytes = name.bytes
      var key: [UInt8] = []
      var index = bytes.startIndex
      while index < bytes.endIndex {
        if isDigit(bytes[index]) {
          // Beside other bytes, any digit is where 0 is. A name has less than 255 of them.
          let digits = number(in: bytes, from: &index)
          key += [UInt8(ascii: "0"), UInt8(clamping: digits.count + 1)] + digits
        } else {
          key.append(bytes[index])
          index += 1
        }
      }
      return key + [0] + bytes + [0]
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// The digits from an index on, without leading zeros. The index moves past them.
  private static func number(in bytes: ArraySlice<UInt8>, from index: inout Int) -> ArraySlice<UInt8> {
    let digits = bytes[index...].prefix(while: isDigit)
    index = digits.endIndex
    return digits.drop { $0 == UInt8(ascii: "0") }
  }
}
