/// Lookup tables that decode an AC symbol together with its coefficient's value.
///
/// An entry describes the symbol that the bits of its index begin with:
///
/// | bits | |
/// | --- | --- |
/// | 0-15 | the value of the coefficient; with `isTooLong`, its size (SSSS) |
/// | 16-22 | the coefficients it passes, with its own: at most 16; or 64 for the end of a block |
/// | 24-28 | the length of the code with the additional bits; 0 if not even the code fits |
/// | 31 | `isTooLong` |
struct ValueTables {
  /// Equals that of `StepTables`, because the tables of `CoefficientTables` begin at the same indices.
  static let lookupBits = StepTables.lookupBits
  /// Set if the symbol with its additional bits is longer than the index.
  static let isTooLong: UInt32 = 1 << 31

  /// The tables of the components, one after the other.
  let entries: [UInt32]
  private let codes: [HuffmanCode]

  /// - parameters:
  ///   - codes: the AC code of each component.
  ///   - known: tables that are taken over if they are of the same codes.
  init(_ codes: [HuffmanCode], reusing known: ValueTables? = nil) {
    self.codes = codes
    if let known, known.codes == codes {
      entries = known.entries
      return
    }
    var entries = [UInt32](repeating: Self.isTooLong, count: codes.count << Self.lookupBits)
    for (index, code) in codes.enumerated() {
      var table = entries.mutableSpan
      Self.fill(&table, from: index << Self.lookupBits, code, isDC: false)
    }
    self.entries = entries
  }

  /// Fills the table of one code, which begins at an index of `entries`. All its entries must be `isTooLong`.
  static func fill(_ entries: inout MutableSpan<UInt32>, from start: Int, _ code: HuffmanCode, isDC: Bool) {
    func entry(_ value: Int32, run: Int, size: Int, length: Int) -> UInt32 {
      isDC ? dcEntry(value, length: length) : Self.entry(value, run: run, size: size, length: length)
    }
    var next = start
    code.forEachCode(upTo: lookupBits) { symbol, codeLength in
      let (run, size) = (symbol >> 4, symbol & 15)
      let length = codeLength + size
      let end = next + 1 << (lookupBits - codeLength)
      if length > lookupBits {
        for index in next..<end {
          entries[index] = isTooLong | entry(Int32(size), run: run, size: size, length: length)
        }
      } else {
        // Each value of the additional bits.
        for bits in 0..<1 << size {
          let value = HuffmanCode.value(UInt64(bits) << UInt64(64 - size), size)
          for _ in 0..<1 << (lookupBits - length) {
            entries[next] = entry(value, run: run, size: size, length: length)
            next += 1
          }
        }
      }
      next = end
    }
  }

  /// The entry of an AC symbol.
  ///
  /// - parameter value: of the coefficient.
  @inline(__always)
  static func entry(_ value: Int32, run: Int, size: Int, length: Int) -> UInt32 {
    let isEnd = size == 0 && run < 15
    return UInt32(UInt16(truncatingIfNeeded: value)) | UInt32(isEnd ? 64 : run + 1) << 16 | UInt32(length) << 24
  }

  /// The entry of a DC symbol.
  ///
  /// - parameter value: the difference to the predictor.
  @inline(__always)
  static func dcEntry(_ value: Int32, length: Int) -> UInt32 {
    UInt32(UInt16(truncatingIfNeeded: value)) | 1 << 16 | UInt32(length) << 24
  }

  /// The length of an entry's symbol, in bits.
  @inline(__always)
  static func length(_ entry: UInt32) -> UInt { UInt(entry &>> 24 & 31) }

  /// The coefficients that an entry's symbol passes.
  @inline(__always)
  static func passed(_ entry: UInt32) -> UInt { UInt(UInt8(truncatingIfNeeded: entry &>> 16)) }

  /// Adds the value to the entry of a symbol whose code fits into the index but whose additional bits do not.
  ///
  /// - parameter bits: the whole symbol, and what follows.
  @inline(__always)
  static func completed(_ entry: UInt32, _ bits: UInt64) -> UInt32 {
    let (length, size) = (Int(bitPattern: self.length(entry)), Int(entry & 15))
    let value = HuffmanCode.value(bits &<< UInt64(truncatingIfNeeded: length &- size), size)
    return entry & ~isTooLong & ~0xFFFF | UInt32(UInt16(truncatingIfNeeded: value))
  }

  /// The entry of an AC symbol whose code is too long for the tables. If the bits begin with no code, the entry is one bit
  /// long: the end of a block.
  @inline(never)
  static func longEntry(_ code: HuffmanCode, _ bits: UInt64) -> UInt32 {
    guard let (symbol, length) = code.symbol(in: bits) else { return entry(0, run: 0, size: 0, length: 1) }
    let size = symbol & 15
    return entry(HuffmanCode.value(bits << UInt64(length), size), run: symbol >> 4, size: size, length: length + size)
  }
}
