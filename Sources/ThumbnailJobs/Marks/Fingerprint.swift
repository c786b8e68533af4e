/// A hash of 64 bits, written as 16 hexadecimal digits: FNV-1a (Fowler, Noll, Vo).
///
/// It need not be cryptographic: a collision affects thumbnails only, never a source.
struct Fingerprint: Sendable, Hashable {
  static let length = 16

  private(set) var hash: UInt64

  init(hash: UInt64) { self.hash = hash }

  init(of bytes: some Sequence<UInt8>) {
    self.init()
    append(bytes)
  }

  /// The hash of no bytes.
  init() { hash = 0xcbf2_9ce4_8422_2325 }

  mutating func append(_ bytes: some Sequence<UInt8>) {
    hash = bytes.reduce(hash) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// Reads the digits, of which all must be lower case; nil if they are not those of a hash.
  init?(digits: some Collection<UInt8>) {
    guard let hash = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
    self.hash = hash
    if !self.digits.elementsEqual(digits) { return nil }
  }

  /// A hash of 32 bits.
  var folded: UInt32 { UInt32(truncatingIfNeeded: hash ^ hash >> 32) }

  var digits: [UInt8] {
    let text = String(hash, radix: 16)
    return Array((String(repeating: "0", count: Self.length - text.count) + text).utf8)
  }
}
