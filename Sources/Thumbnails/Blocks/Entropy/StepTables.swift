/// Lookup tables that pass several symbols of a sequential scan, with their additional bits, in one step.
///
/// An entry says what the step does that begins with the bits of its index:
///
/// | bits | |
/// | --- | --- |
/// | 0-4 | the length of the step in bits, at most `longestStep` |
/// | 5-12 | the coefficients it passes, plus one for the end of a block: at most 64; or `noStep` |
/// | 13 | `endOfBlock` |
///
/// A step past a block's 64th coefficient must not be used, because it contains symbols of the next block.
struct StepTables {
  /// The number of bits that index a table. With 13, tables of luma and chroma would fill a processor's first cache.
  static let lookupBits = 12
  /// The number of entries of a table.
  static let size = 1 << lookupBits
  /// The limit lets a word, which has at least 57 bits, suffice for three steps: two of this length, and the index of
  /// the third.
  static let longestStep = 22
  /// The coefficients of an entry whose first symbol is too long for a step.
  static let noStep = 128
  /// Set if the block ends after the step.
  static let endOfBlock = 1 << 13

  /// A DC and an AC code that a component has.
  struct Codes {
    let dc: HuffmanCode
    let ac: HuffmanCode
  }

  /// All tables, one after the other: for each of `codes`, one for the first step of a block, which begins with the DC
  /// coefficient, and one for all further steps.
  let entries: [UInt16]
  let codes: [Codes]
  /// For each of the scan's components, the index in `entries` at which its first table begins.
  let starts: [Int]

  /// Components with the same codes share their tables.
  ///
  /// - parameters:
  ///   - destinations: the table destinations (Td, Ta) of each component.
  ///   - dc, ac: the codes there.
  init(_ destinations: [(dc: Int, ac: Int)], dc: [HuffmanCode], ac: [HuffmanCode]) {
    var entries: [UInt16] = []
    var codes: [Codes] = []
    var starts: [Int] = []
    for (index, own) in destinations.enumerated() {
      if let same = destinations[..<index].firstIndex(where: { $0 == own }) {
        starts.append(starts[same])
      } else {
        starts.append(entries.count)
        codes.append(Codes(dc: dc[index], ac: ac[index]))
        let (first, further) = (dc[index].lookup(bits: Self.lookupBits), ac[index].lookup(bits: Self.lookupBits))
        entries += Self.table(first: first, further: further)
        entries += Self.table(first: nil, further: further)
      }
    }
    (self.entries, self.codes, self.starts) = (entries, codes, starts)
  }

  /// The codes of the table that begins at an index of `entries`.
  @inline(__always)
  static func codesIndex(ofTable start: UInt) -> Int { Int(bitPattern: start &>> UInt(lookupBits + 1)) }

  /// - parameters:
  ///   - first: the lookup table of the DC code, if steps begin with it.
  ///   - further: the lookup table of the AC code.
  private static func table(first: [UInt16]?, further: [UInt16]) -> [UInt16] {
    (0..<size).map { value in
      var (length, coefficients) = (0, 0)
      if let first {
        let entry = Int(first[value])
        length = entry & 31 + entry >> 8
        guard entry != 0, length <= longestStep else { return UInt16(noStep << 5) }
        coefficients = 1
      }
      while length < lookupBits {
        let entry = Int(further[value << length & (size - 1)])
        let (codeLength, run, size) = (entry & 31, entry >> 12, entry >> 8 & 15)
        guard codeLength > 0, codeLength <= lookupBits - length else { break }
        if size == 0, run < 15 {
          return UInt16(length + codeLength | (coefficients + 1) << 5 | endOfBlock)
        }
        guard coefficients + run + 2 <= 64, length + codeLength + size <= longestStep else { break }
        length += codeLength + size
        coefficients += run + 1
      }
      return UInt16(coefficients == 0 ? noStep << 5 : length | coefficients << 5)
    }
  }
}
