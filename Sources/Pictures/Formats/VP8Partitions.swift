/// Finds out into how many partitions the coefficients of a VP8 frame are divided. libwebp keeps all of a file in memory
/// if there is more than one, so the memory for decoding depends on it.
///
/// *Source*: RFC 6386, sections 7.3 (boolean decoder), 9.3 to 9.6 and 19.2 (frame header).
struct VP8Partitions {
  /// The most bytes of the first partition that are needed.
  static let longest = 64

  /// The count of partitions, 1 to 8.
  ///
  /// - parameter bytes: the beginning of the first partition. If it is too short, zeros follow.
  static func count(_ bytes: [UInt8]) -> Int {
    var reader = VP8Partitions(bytes)
    reader.skip(2)  // colour space, clamping
    if reader.flag() { reader.skipSegmentation() }
    reader.skip(1 + 6 + 3)  // filter type, loop filter level, sharpness
    if reader.flag(), reader.flag() { for _ in 0..<8 { reader.skipOptional(6 + 1) } }
    return 1 << reader.number(2)
  }

  private let bytes: [UInt8]
  private var next = 0
  private var value: UInt32 = 0
  private var range: UInt32 = 255
  private var bitsLeft = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    value = UInt32(nextByte()) << 8 | UInt32(nextByte())
    bitsLeft = 8
  }

  private mutating func nextByte() -> UInt8 {
    defer { next += 1 }
    return next < bytes.count ? bytes[next] : 0
  }

  /// A flag whose both values are equally probable. `value` has two bytes; the upper one is compared.
  private mutating func flag() -> Bool {
    let split = 1 + (range - 1) >> 1
    let isSet = value >= split << 8
    if isSet {
      value -= split << 8
      range -= split
    } else {
      range = split
    }
    while range < 128 {
      value <<= 1
      range <<= 1
      bitsLeft -= 1
      if bitsLeft == 0 {
        value |= UInt32(nextByte())
        bitsLeft = 8
      }
    }
    return isSet
  }

  private mutating func number(_ bits: Int) -> Int { (0..<bits).reduce(0) { sum, _ in sum << 1 | (flag() ? 1 : 0) } }

  private mutating func skip(_ bits: Int) { _ = number(bits) }

  /// A flag, and these bits if it is set.
  private mutating func skipOptional(_ bits: Int) { if flag() { skip(bits) } }

  private mutating func skipSegmentation() {
    let (updatesMap, updatesData) = (flag(), flag())
    if updatesData {
      skip(1)  // absolute values or differences
      for _ in 0..<4 { skipOptional(7 + 1) }  // quantizer
      for _ in 0..<4 { skipOptional(6 + 1) }  // loop filter
    }
    if updatesMap { for _ in 0..<3 { skipOptional(8) } }
  }
}
