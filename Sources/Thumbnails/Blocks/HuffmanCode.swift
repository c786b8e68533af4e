/// A Huffman code as a file defines it (ITU-T T.81, B.2.4.2 and C.2), and the tables by which it is read.
struct HuffmanCode {
  /// How many bits the tables look at; longer codes are read bit by bit.
  static let dcLookupBits = 10
  static let acLookupBits = 12
  /// Set in `detailTable` where the block ends behind the symbols.
  static let endOfBlock: UInt16 = 1 << 12

  private let counts: [Int]
  private let symbols: [UInt8]
  /// For each length, the code of that length that follows the last one; 0 where there is none. Codes below it that no
  /// shorter code begins are of this length.
  private var ends = [Int](repeating: 0, count: 17)
  /// What to add to a code of a length for its place in `symbols`.
  private var offsets = [Int](repeating: 0, count: 17)

  /// Nil where there are more codes of a length than fit; one of ones alone does not (C.2).
  ///
  /// - parameter counts: how many symbols have codes of 1, 2, ... 16 bits.
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

  /// The symbol whose code stands at the front of a word, and the code's length. Nil where no code begins so.
  func symbol(in word: UInt64) -> (symbol: Int, length: Int)? {
    for length in 1...16 {
      let code = Int(word >> UInt64(64 - length))
      if code < ends[length] { return (Int(symbols[code + offsets[length]]), length) }
    }
    return nil
  }

  /// For every `meanBits` bits: the length of the code they begin with and, from bit 8 on, its symbol. 0 for longer codes.
  /// Nil where a symbol is not the size of a block's mean.
  func dcLookup() -> [UInt16]? {
    guard symbols.allSatisfy({ $0 <= 15 }) else { return nil }
    return table(bits: Self.dcLookupBits)
  }

  /// For every `detailBits` bits: the length of the code they begin with and, from bit 8 on, its symbol: a size of four
  /// bits and a run of four. 0 for longer codes.
  func acLookup() -> [UInt16] { table(bits: Self.acLookupBits) }

  /// For every `detailBits` bits: as many whole symbols as begin in them, with the bits that belong to each, as one step:
  ///
  /// | bits | |
  /// | --- | --- |
  /// | 0-4 | the bits they take, at most 27 |
  /// | 5-11 | the coefficients they pass over or set, plus one for the end of a block: at most 64 |
  /// | 12 | `endOfBlock` |
  ///
  /// 0 where the first code is longer. A step that would reach past a block's 64th coefficient must not be taken: symbols
  /// of the next block are in it then.
  ///
  /// - parameter single: the `symbolTable`.
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
      // Codes of a length follow one another, and so do the entries that begin with them.
      let span = 1 << (bits - length)
      for code in max(ends[length] - counts[length - 1], 0)..<ends[length] {
        let entry = UInt16(length) | UInt16(symbols[code + offsets[length]]) << 8
        for index in code * span..<(code + 1) * span { table[index] = entry }
      }
    }
    return table
  }
}
