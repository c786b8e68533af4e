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
  struct Codes: Equatable {
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
  ///   - known: tables that are taken over if they are of the same codes.
  init(
    _ destinations: [(dc: Int, ac: Int)], dc: [HuffmanCode], ac: [HuffmanCode], reusing known: StepTables? = nil
  ) {
    var codes: [Codes] = []
    var starts: [Int] = []
    for (index, own) in destinations.enumerated() {
      if let same = destinations[..<index].firstIndex(where: { $0 == own }) {
        starts.append(starts[same])
      } else {
        starts.append(2 * Self.size * codes.count)
        codes.append(Codes(dc: dc[index], ac: ac[index]))
      }
    }
    (self.codes, self.starts) = (codes, starts)
    if let known, known.codes == codes {
      entries = known.entries
      return
    }
    var entries = [UInt16](repeating: Self.none, count: 2 * Self.size * codes.count)
    for (index, own) in codes.enumerated() {
      var table = entries.mutableSpan
      let start = 2 * Self.size * index
      Self.fillFirst(&table, from: start, own)
      Self.fill(&table, from: start + Self.size, own.ac, Step())
    }
    self.entries = entries
  }

  /// The codes of the table that begins at an index of `entries`.
  @inline(__always)
  static func codesIndex(ofTable start: UInt) -> Int { Int(bitPattern: start &>> UInt(lookupBits + 1)) }

  // MARK: Filling

  /// A step's length in bits, and the coefficients it passes.
  private struct Step {
    var length = 0
    var coefficients = 0

    var entry: UInt16 { coefficients == 0 ? none : UInt16(length | coefficients << 5) }
  }

  private static let none = UInt16(noStep << 5)

  /// Fills the table for the first step of a block. All its entries must be `none`.
  private static func fillFirst(_ entries: inout MutableSpan<UInt16>, from start: Int, _ codes: Codes) {
    var next = start
    codes.dc.forEachCode(upTo: lookupBits) { size, codeLength in
      let step = Step(length: codeLength + size, coefficients: 1)
      let end = next + 1 << (lookupBits - codeLength)
      if step.length <= longestStep {
        fillEach(&entries, next..<end, codes.ac, step)
      }
      next = end
    }
  }

  /// Fills the entries of all indices that begin with the code of a step. The additional bits of its symbol do not change
  /// the entries, so those for the first value are copied for the others.
  private static func fillEach(
    _ entries: inout MutableSpan<UInt16>, _ indices: Range<Int>, _ ac: HuffmanCode, _ step: Step
  ) {
    let filled = fill(&entries, from: indices.lowerBound, ac, step)
    for index in filled..<indices.upperBound { entries[index] = entries[index - filled + indices.lowerBound] }
  }

  /// Fills the entries of all indices that begin with the bits of `step`: extends it by as many symbols as fit. Returns
  /// the index after these entries.
  @discardableResult
  private static func fill(
    _ entries: inout MutableSpan<UInt16>, from start: Int, _ ac: HuffmanCode, _ step: Step
  ) -> Int {
    guard step.length < lookupBits else {
      entries[start] = step.entry
      return start + 1
    }
    let bits = lookupBits - step.length
    var next = start
    ac.forEachCode(upTo: bits) { symbol, codeLength in
      let (run, size) = (symbol >> 4, symbol & 15)
      let end = next + 1 << (bits - codeLength)
      let longer = Step(length: step.length + codeLength + size, coefficients: step.coefficients + run + 1)
      if size == 0, run < 15 {
        let last = UInt16(longer.length | (step.coefficients + 1) << 5 | endOfBlock)
        for index in next..<end { entries[index] = last }
      } else if longer.coefficients < 64, longer.length <= longestStep {
        fillEach(&entries, next..<end, ac, longer)
      } else {
        for index in next..<end { entries[index] = step.entry }
      }
      next = end
    }
    for index in next..<start + 1 << bits { entries[index] = step.entry }
    return start + 1 << bits
  }
}
