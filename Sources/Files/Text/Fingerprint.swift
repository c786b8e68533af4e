/// A hash of 64 bits, written as 16 hexadecimal digits: FNV-1a (Fowler, Noll, Vo).
///
/// It is not cryptographic: use it where a collision does no harm. It is inlinable, because unspecialised calls from
/// other modules would take many times as long for each byte.
@frozen package struct Fingerprint: Sendable, Hashable {
  package static let length = 16

  package var hash: UInt64

  @inlinable package init(hash: UInt64) { self.hash = hash }

  @inlinable package init(of bytes: some Sequence<UInt8>) {
    self.init()
    append(bytes)
  }

  /// The hash of no bytes.
  @inlinable package init() { hash = 0xcbf2_9ce4_8422_2325 }

  @inlinable package mutating func append(_ bytes: some Sequence<UInt8>) {
    hash = bytes.reduce(hash) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// Reads the digits, of which all must be lower case; nil if they are not those of a hash.
  package init?(digits: some Collection<UInt8>) {
    guard let hash = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
    self.hash = hash
    if !self.digits.elementsEqual(digits) { return nil }
  }

  /// A hash of 32 bits.
  package var folded: UInt32 { UInt32(truncatingIfNeeded: hash ^ hash >> 32) }

  package var digits: [UInt8] { Self.digits(of: hash) }

  /// Half as many digits.
  package var foldedDigits: [UInt8] { Self.digits(of: folded) }

  /// All digits of a number, with zeros in front.
  private static func digits(of number: some FixedWidthInteger) -> [UInt8] {
    let text = String(number, radix: 16)
    return Array((String(repeating: "0", count: number.bitWidth / 4 - text.count) + text).utf8)
  }
}
