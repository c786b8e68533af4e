/// A Huffman code as a file defines it (ITU-T T.81, B.2.4.2 and C.2), and lookup tables for decoding it.
struct HuffmanCode: Equatable {
  /// The number of bits that index the lookup tables. Longer codes are decoded length by length.
  static let dcLookupBits = 10
  static let acLookupBits = 12

  private let counts: [UInt8]
  private let symbols: [UInt8]
  /// For each length, one more than the last code of that length; 0 if there is none. Bits of that length with a lower
  /// value are a code, unless they begin with a shorter code.
  private var ends = [Int](repeating: 0, count: 17)
  /// For each length, the difference between a symbol's index in `symbols` and its code.
  private var offsets = [Int](repeating: 0, count: 17)
  /// The first 13 bits of codes that are longer than 12 bits are not below this number; those of shorter codes are.
  private var firstLongCode = 0

  /// Nil if there are more codes of a length than fit. A code that consists only of ones is not allowed (C.2).
  ///
  /// - parameter counts: the numbers of codes of 1, 2, ... 16 bits.
  init?(counts: [UInt8], symbols: [UInt8]) {
    self.counts = counts
    self.symbols = symbols
    var code = 0
    var index = 0
    for length in 1...16 {
      let count = Int(counts[length - 1])
      if length == 13 { firstLongCode = code }
      offsets[length] = index - code
      code += count
      index += count
      guard code < 1 << length else { return nil }
      ends[length] = count > 0 ? code : 0
      code <<= 1
    }
    guard index <= symbols.count else { return nil }
  }

  /// The symbol whose code a word begins with, and the code's length. Nil if there is no such code.
  func symbol(in word: UInt64) -> (symbol: Int, length: Int)? {
    for length in (Int(word >> (64 - 13)) < firstLongCode ? 1 : 13)...16 {
      let code = Int(word &>> UInt64(64 &- length))
      if code < ends[length] { return (Int(symbols[code + offsets[length]]), length) }
    }
    return nil
  }

  /// For every value of `dcLookupBits` bits: the length of the code that they begin with and, from bit 8 on, its
  /// symbol. 0 for longer codes. Nil if a symbol is above 15, which cannot be the size of a DC difference.
  func dcLookup() -> [UInt16]? {
    guard symbols.allSatisfy({ $0 <= 15 }) else { return nil }
    return lookup(bits: Self.dcLookupBits)
  }

  /// For every value of `acLookupBits` bits: the length of the code that they begin with and, from bit 8 on, its
  /// symbol: four bits for the size (SSSS), then four for the run of zeros (RRRR). 0 for longer codes.
  func acLookup() -> [UInt16] { lookup(bits: Self.acLookupBits) }

  /// The number that the first `size` bits encode (ITU-T T.81, F.2.2.1, EXTEND).
  @inline(__always)
  static func value(_ bits: UInt64, _ size: Int) -> Int32 {
    let value = Int32(truncatingIfNeeded: (bits &>> 1) &>> UInt64(truncatingIfNeeded: 63 &- size))
    // Numbers that begin with a 0 are negative.
    let isNegative = Int32(truncatingIfNeeded: ~bits &>> 63)
    return value &- isNegative &* (1 &<< Int32(truncatingIfNeeded: size) &- 1)
  }

  /// For every value of `bits` bits: the length of the code that they begin with and, from bit 8 on, its symbol. 0 for
  /// longer codes.
  func lookup(bits: Int) -> [UInt16] {
    var table = [UInt16](repeating: 0, count: 1 << bits)
    var entries = table.mutableSpan
    var end = 0
    forEachCode(upTo: bits) { symbol, length in
      let start = end
      end += 1 << (bits - length)
      for index in start..<end { entries[index] = UInt16(length | symbol << 8) }
    }
    return table
  }

  /// Visits the codes of at most `longest` bits in order of their bits. So in a table indexed by `longest` bits, the
  /// entries of each code directly follow those of the code before.
  @inline(__always)
  func forEachCode(upTo longest: Int, _ body: (_ symbol: Int, _ length: Int) -> Void) {
    var index = 0
    for length in 1...longest {
      for _ in 0..<counts[length - 1] {
        body(Int(symbols[index]), length)
        index += 1
      }
    }
  }
}
