import Thumbnails

/// Reads numbers of any count of bits, the most significant bit first.
struct BitReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }

  mutating func bit() throws(ThumbnailError) -> Bool {
    guard position < bytes.count * 8 else { throw .damaged("the parameters of the coded picture end too early") }
    defer { position += 1 }
    return bytes[position >> 3] >> (7 - position & 7) & 1 == 1
  }

  /// An unsigned number of up to 32 bits.
  mutating func bits(_ count: Int) throws(ThumbnailError) -> Int {
    var value = 0
    for _ in 0..<count { value = value << 1 | (try bit() ? 1 : 0) }
    return value
  }

  mutating func skip(_ count: Int) throws(ThumbnailError) {
    guard count >= 0, count <= bytes.count * 8 - position else {
      throw .damaged("the parameters of the coded picture end too early")
    }
    position += count
  }

  /// An unsigned Exp-Golomb code (H.265, 9.2), which is AV1's `uvlc` too.
  mutating func exponentialGolomb() throws(ThumbnailError) -> Int {
    var zeros = 0
    while try !bit() {
      zeros += 1
      guard zeros <= 32 else { throw .damaged("a parameter of the coded picture is too large") }
    }
    return (1 << zeros) - 1 + (try bits(zeros))
  }
}
