/// Four characters that name a box, an item, a reference or a property.
struct FourCC: Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Only for names in this program, which have four ASCII characters.
  init(stringLiteral name: StaticString) {
    rawValue = name.withUTF8Buffer { bytes in bytes.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  /// The characters; those that cannot be printed become question marks.
  var description: String {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) }
    return String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
