import TestSupport
import Testing

@testable import Thumbnails

/// Compares every entry of the lookup tables with the symbols that the bits of its index contain, decoded one by one.
@Suite(.timeLimit(.minutes(2))) struct LookupTableTests {
  /// Codes with at most 16 bits, of any shape, for the symbols from 0 to `symbols - 1` in any order.
  private static func code(symbols: Int, seed: UInt64) throws -> HuffmanCode {
    var random = SplitMix(seed: seed)
    var counts = [UInt8](repeating: 0, count: 16)
    // The codes of a length that are neither used nor begin a longer one. One of them is left for that which consists
    // only of ones.
    var (free, left) = (1, symbols)
    for length in 1...16 {
      free *= 2
      let most = min(left, free - 1, 255)
      let count = length == 16 ? most : min(most, Int(random.next() % UInt64(free)) / 2)
      counts[length - 1] = UInt8(count)
      free -= count
      left -= count
    }
    let order = (0..<symbols).map { UInt8($0) }.shuffled(using: &random)
    return try #require(HuffmanCode(counts: counts, symbols: order))
  }

  /// The symbol that the first `bits` bits of a word begin with.
  private static func symbol(_ code: HuffmanCode, _ word: UInt64, bits: Int) -> (symbol: Int, length: Int)? {
    bits > 0 ? code.symbol(in: word).flatMap { $0.length <= bits ? $0 : nil } : nil
  }

  private static func word(_ index: Int, bits: Int) -> UInt64 { UInt64(index) << UInt64(64 - bits) }

  @Test(arguments: 0..<40 as Range<UInt64>) func valueTablesHaveTheSymbolsOfTheirBits(seed: UInt64) throws {
    let bits = ValueTables.lookupBits
    let codes = try [Self.code(symbols: 256, seed: seed), Self.code(symbols: 30, seed: seed + 1000)]
    let entries = ValueTables(codes).entries
    try #require(entries.count == 2 << bits)
    for index in entries.indices {
      let word = Self.word(index & (1 << bits - 1), bits: bits)
      var expected = ValueTables.isTooLong
      if let (symbol, length) = Self.symbol(codes[index >> bits], word, bits: bits) {
        let (run, size) = (symbol >> 4, symbol & 15)
        let isTooLong = length + size > bits
        let value = isTooLong ? Int32(size) : HuffmanCode.value(word << UInt64(length), size)
        expected = ValueTables.entry(value, run: run, size: size, length: length + size)
        if isTooLong { expected |= ValueTables.isTooLong }
      }
      #expect(entries[index] == expected)
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func coefficientTablesHaveTheSymbolsOfTheirBits(seed: UInt64) throws {
    let bits = ValueTables.lookupBits
    let (dc, ac) = (try Self.code(symbols: 16, seed: seed), try Self.code(symbols: 256, seed: seed + 1000))
    let steps = StepTables([(0, 0), (0, 0)], dc: [dc, dc], ac: [ac, ac])
    let tables = CoefficientTables(steps)
    #expect(tables.starts == [0, 0] && tables.entries.count == 2 << bits)
    #expect(Array(tables.entries[(1 << bits)...]) == ValueTables([ac]).entries)
    for index in 0..<1 << bits {
      let word = Self.word(index, bits: bits)
      var expected = ValueTables.isTooLong
      if let (size, length) = Self.symbol(dc, word, bits: bits) {
        let isTooLong = length + size > bits
        let value = isTooLong ? Int32(size) : HuffmanCode.value(word << UInt64(length), size)
        expected = ValueTables.dcEntry(value, length: length + size)
        if isTooLong { expected |= ValueTables.isTooLong }
      }
      #expect(tables.entries[index] == expected)
    }
    #expect(Self.isSameMemory(CoefficientTables(steps, reusing: tables).entries, tables.entries))
    let others = StepTables([(0, 0)], dc: [dc], ac: [try Self.code(symbols: 256, seed: seed + 2000)])
    #expect(CoefficientTables(others, reusing: tables).entries == CoefficientTables(others).entries)
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func stepTablesPassTheSymbolsOfTheirBits(seed: UInt64) throws {
    let dc = try (0..<2).map { try Self.code(symbols: 16, seed: seed + 100 * $0) }
    let ac = try [Self.code(symbols: 256, seed: seed + 500), Self.code(symbols: 40, seed: seed + 600)]
    // The second and the third component share their codes.
    let tables = StepTables([(0, 0), (1, 1), (1, 1)], dc: [dc[0], dc[1], dc[1]], ac: [ac[0], ac[1], ac[1]])
    #expect(tables.starts == [0, 2 * StepTables.size, 2 * StepTables.size])
    Self.expectSteps(tables, dc, ac)
  }

  /// With these codes, steps of 63 coefficients fit into the bits of an index, and steps of more would.
  @Test func stepsOfTheMostCoefficients() throws {
    let counts: [UInt8] = [0, 3] + [UInt8](repeating: 0, count: 14)
    let dc = try #require(HuffmanCode(counts: counts, symbols: [0, 1, 2]))
    let ac = try #require(HuffmanCode(counts: counts, symbols: [0xF0, 0xE1, 0]))
    let tables = StepTables([(0, 0)], dc: [dc], ac: [ac])
    #expect(tables.entries.map { $0 >> 5 & 255 }.filter { $0 < StepTables.noStep }.max() == 64)
    Self.expectSteps(tables, [dc], [ac])
  }

  /// Tables of other codes are not taken over. Those of the same codes are, as one sees by the place of the entries.
  @Test func tablesAreReusedForTheSameCodes() throws {
    let codes = try (0..<4).map { try Self.code(symbols: 16, seed: $0) }
    func steps(_ dc: Int, _ ac: Int, reusing known: StepTables?) -> StepTables {
      StepTables([(0, 0), (0, 0)], dc: [codes[dc], codes[dc]], ac: [codes[ac], codes[ac]], reusing: known)
    }
    let known = steps(0, 1, reusing: nil)
    #expect(Self.isSameMemory(steps(0, 1, reusing: known).entries, known.entries))
    for (dc, ac) in [(2, 1), (0, 3)] {
      let made = steps(dc, ac, reusing: known)
      #expect(made.entries == steps(dc, ac, reusing: nil).entries && made.entries != known.entries)
    }
    let values = ValueTables([codes[0], codes[1]])
    #expect(Self.isSameMemory(ValueTables([codes[0], codes[1]], reusing: values).entries, values.entries))
    for other in [[codes[0], codes[2]], [codes[0]], []] {
      #expect(ValueTables(other, reusing: values).entries == ValueTables(other).entries)
    }
  }

  private static func isSameMemory<Element>(_ first: [Element], _ second: [Element]) -> Bool {
    first.withUnsafeBufferPointer { first in second.withUnsafeBufferPointer { first.baseAddress == $0.baseAddress } }
  }

  /// The tables of a file do not depend on the files before.
  @Test(arguments: [1, 2]) func filesOfOtherCodesFollowEachOther(side: Int) throws {
    let known = KnownTables()
    for quality in [30, 95, 30, 60, 60] {
      var photo = SyntheticPhoto(seed: quality, width: 320, height: 200)
      photo.quality = quality
      let bytes = photo.jpeg()
      let made = try [known, KnownTables()].map { tables in
        let decoder = try JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .error, monitor: nil)
        let (buffer, masks) = (PlaneBuffer(), PlaneBuffer())
        var blocks = BlockDecoder(decoder.input, header: SourceInfo(decoder), side: side, known: tables)
        let (_, store) = try blocks.readCoefficients(into: buffer, masksIn: masks)
        return withExtendedLifetime(buffer) { Array(store.coefficients) }
      }
      #expect(made[0] == made[1], "quality \(quality)")
    }
    #expect(known.steps != nil && (known.values != nil) == (side == 2))
  }

  private static func expectSteps(_ tables: StepTables, _ dc: [HuffmanCode], _ ac: [HuffmanCode]) {
    #expect(tables.entries.count == 2 * dc.count * StepTables.size)
    for (index, entry) in tables.entries.enumerated() {
      let place = index / (2 * StepTables.size)
      let isFirst = index / StepTables.size % 2 == 0
      let word = Self.word(index % StepTables.size, bits: StepTables.lookupBits)
      #expect(entry == Self.step(word, first: isFirst ? dc[place] : nil, further: ac[place]), "index \(index)")
    }
  }

  /// The entry of the step that begins with the first bits of a word.
  private static func step(_ word: UInt64, first: HuffmanCode?, further: HuffmanCode) -> UInt16 {
    let bits = StepTables.lookupBits
    let none = UInt16(StepTables.noStep << 5)
    var (length, coefficients) = (0, 0)
    if let first {
      guard let (size, codeLength) = symbol(first, word, bits: bits), codeLength + size <= StepTables.longestStep else {
        return none
      }
      (length, coefficients) = (codeLength + size, 1)
    }
    while let (symbol, codeLength) = symbol(further, word << UInt64(length), bits: bits - length) {
      let (run, size) = (symbol >> 4, symbol & 15)
      if size == 0, run < 15 { return UInt16(length + codeLength | (coefficients + 1) << 5 | StepTables.endOfBlock) }
      guard coefficients + run + 1 < 64, length + codeLength + size <= StepTables.longestStep else { break }
      length += codeLength + size
      coefficients += run + 1
    }
    return coefficients == 0 ? none : UInt16(length | coefficients << 5)
  }
}
