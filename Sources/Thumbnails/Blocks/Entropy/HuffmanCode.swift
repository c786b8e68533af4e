/// A Huffman code as a file defines it (ITU-T T.81, B.2.4.2 and C.2), and lookup tables for decoding it.
struct HuffmanCode {
  /// The number of bits that index the lookup tables. Longer codes are decoded length by length.
  static let dcLookupBits = 10
  static let acLookupBits = 12
  /// Set in an entry of `acSkipLookup` if the block ends after the entry's symbols.
  static let endOfBlock: UInt16 = 1 << 12

  private let counts: [Int]
  private let symbols: [UInt8]
  /// For each length, one more than the last code of that length; 0 if there is none. Bits of that length with a lower
  /// value are a code, unless they begin with a shorter code.
  private var ends = [Int](repeating: 0, count: 17)
  /// For each length, the difference between a symbol's index in `symbols` and its code.
  private var offsets = [Int](repeating: 0, count: 17)

  /// Nil if there are more codes of a length than fit. A code that consists only of ones is not allowed (C.2).
  ///
  /// - parameter counts: the numbers of codes of 1, 2, ... 16 bits.
  init?(counts: [Int], symbols: [UInt8]) {
    self.counts = counts
    self.symbols = symbols
    var code = 0
    var index = 0
    for length in 1...16 {
      let count = counts[length - 1]
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
    for length in 1...16 {
      let code = Int(word >> UInt64(64 - length))
      if code < ends[length] { return (Int(symbols[code + offsets[length]]), length) }
    }
    return nil
  }

  /// For every value of `dcLookupBits` bits: the length of the code that they begin with and, from bit 8 on, its
  /// symbol. 0 for longer codes. Nil if a symbol is above 15, which cannot be the size of a DC difference.
  func dcLookup() -> [UInt16]? {
    guard symbols.allSatisfy({ $0 <= 15 }) else { return nil }
    return table(bits: Self.dcLookupBits)
  }

  /// For every value of `acLookupBits` bits: the length of the code that they begin with and, from bit 8 on, its
  /// symbol: four bits for the size (SSSS), then four for the run of zeros (RRRR). 0 for longer codes.
  func acLookup() -> [UInt16] { table(bits: Self.acLookupBits) }

  /// For every value of `acLookupBits` bits: one step over all symbols whose codes they contain, and over the symbols'
  /// additional bits.
  ///
  /// | bits | |
  /// | --- | --- |
  /// | 0-4 | the length of the step in bits, at most 27 |
  /// | 5-11 | the coefficients it passes, plus one for the end of a block: at most 64 |
  /// | 12 | `endOfBlock` |
  ///
  /// 0 if the first code is longer than `acLookupBits`. A step past a block's 64th coefficient must not be used,
  /// because it contains symbols of the next block.
  ///
  /// - parameter single: the table of `acLookup()`.
  func acSkipLookup(of single: [UInt16]) -> [UInt16] {
    let bits = Self.acLookupBits
    return (0..<1 << bits).map { value in
      var used = 0
      var reach = 0
      var ends: UInt16 = 0
      while used < bits {
        let entry = Int(single[value << used & (1 << bits - 1)])
        let (length, run, size) = (entry & 31, entry >> 12, entry >> 8 & 15)
        guard length > 0, length <= bits - used else { break }
        if size == 0 && run < 15 {
          used += length
          reach += 1
          ends = Self.endOfBlock
          break
        }
        guard reach + run + 2 <= 64 else { break }
        used += length + size
        reach += run + 1
      }
      return UInt16(used | reach << 5) | ends
    }
  }

  private func table(bits: Int) -> [UInt16] {
    var table = [UInt16](repeating: 0, count: 1 << bits)
    for length in 1...bits {
      // Codes of one length are consecutive, and so are the indices that begin with them.
      let span = 1 << (bits - length)
      for code in max(ends[length] - counts[length - 1], 0)..<ends[length] {
        let entry = UInt16(length) | UInt16(symbols[code + offsets[length]]) << 8
        for index in code * span..<(code + 1) * span { table[index] = entry }
      }
    }
    return table
  }
}
