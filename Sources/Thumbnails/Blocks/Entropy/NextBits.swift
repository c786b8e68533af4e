/// The next bits of a scan. They stay in a register for several symbols, so that a symbol waits for a load from memory
/// only when they run out.
struct NextBits {
  /// The longest symbol: a code of 16 bits and 15 additional bits.
  static let longestSymbol = 16 + 15

  /// The index of the first bit in the window.
  private(set) var position: Int
  /// After `fill`, at least `longestSymbol` bits from `position` on.
  private(set) var word: UInt64 = 0
  /// How many bits of `word` may still be used.
  private var left = 0

  init(at position: Int) { self.position = position }

  @inline(__always)
  mutating func fill(from window: RawSpan) {
    guard left < Self.longestSymbol else { return }
    word = Self.word(window, position)
    left = 57
  }

  /// Passes `count` bits. At most `longestSymbol` bits may be passed between two calls of `fill`.
  @inline(__always)
  mutating func drop(_ count: Int) {
    position += count
    word = word &<< UInt64(truncatingIfNeeded: count)
    left -= count
  }

  /// The bits from `position` on: at least 57 of them, then zeros.
  @inline(__always)
  static func word(_ window: UnsafeRawPointer, _ position: UInt) -> UInt64 {
    let offset = Int(bitPattern: position &>> 3)
    return UInt64(bigEndian: window.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &<< UInt64(position & 7)
  }

  /// The bits from `position` on: at least 57 of them, then zeros.
  @inline(__always)
  static func word(_ window: RawSpan, _ position: Int) -> UInt64 {
    UInt64(bigEndian: window.unsafeLoadUnaligned(fromByteOffset: position >> 3, as: UInt64.self))
      << UInt64(position & 7)
  }
}
