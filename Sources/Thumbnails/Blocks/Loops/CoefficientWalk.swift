/// Decodes the first coefficients, up to `limit`, of each block that a `BlockFinder` has found.
///
/// As there, three cursors are on their way at once, because a single one would wait for a table lookup in each step. A
/// cursor decodes a third of the data. A symbol without a value writes to a place that is not used, which saves a branch.
///
/// This is an innermost loop, so it uses pointers. They stay in their memory, because
/// - a `BlockFinder` has followed the same codes from the same bits, so that each cursor meets the same ends of blocks,
/// - no cursor goes on after its last block, whatever the data, and
/// - the place of a coefficient is below `Record.stride`, whatever the data.
struct CoefficientWalk {
  /// The numbers of a block. The first 64 are its coefficients, in rows of eight; these are the places of the others.
  enum Record {
    /// Where symbols without a value write.
    static let unused = 64
    /// Receives the number of coefficients that the walk has passed, `limit` or more. An end of block adds 64 to it.
    static let extent = 65
    /// The index in `entries` at which the block's DC table begins, as an unsigned number.
    static let table = 66
    /// The bit at which the next block begins, in two numbers.
    static let next = 68
    static let stride = 72
  }

  let window: UnsafeRawPointer
  let entries: UnsafePointer<UInt32>
  /// `places[n]` is the place of a block's nth coefficient in zigzag order. It is `Record.unused` for n = 0 and n > 64.
  let places: UnsafePointer<UInt8>
  /// The bit at which each block begins, and the bit after the last one.
  let starts: UnsafePointer<UInt32>
  /// The records of the blocks, and one record more. All coefficients are 0 before the walk. The walk sets the first
  /// coefficient of a block to the DC difference.
  let records: UnsafeMutablePointer<Int16>
  /// The number of coefficients after which the rest of a block is not needed, at most 64.
  let limit: Int
  /// For symbols that are too long for the tables.
  let codes: [StepTables.Codes]

  private struct Cursor {
    /// The index of the next bit in the window, and the bit after the cursor's last block.
    var position: UInt
    let end: UInt
    /// The record of the current block, and the one after the last.
    var record: UnsafeMutablePointer<Int16>
    let endRecord: UnsafeMutablePointer<Int16>
    /// The number of coefficients of the current block that have been passed.
    var passed: UInt = 0
    /// The index in `entries` of the table of the next symbol.
    var table: UInt
  }

  private static let stepsPerRound = 3
  private static let longestRound = UInt(stepsPerRound * NextBits.longestSymbol)

  /// Decodes `count` blocks.
  func decode(_ count: Int) {
    for block in 0..<count {
      let next = UnsafeMutableRawPointer(records + block &* Record.stride + Record.next)
      next.storeBytes(of: starts[block &+ 1], as: UInt32.self)
    }
    let (first, last) = (starts[0], starts[count])
    let third = (last &- first) / 3
    let (one, two) = (block(at: first &+ third, in: 0..<count), block(at: first &+ 2 &* third, in: 0..<count))
    var (a, b, c) = (cursor(0..<one), cursor(one..<two), cursor(two..<count))
    advanceAll(&a, &b, &c)
    finish(&a)
    finish(&b)
    finish(&c)
  }

  /// The first block that begins at a bit or later.
  private func block(at bit: UInt32, in range: Range<Int>) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low &+ high) / 2
      if starts[middle] < bit { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  private func cursor(_ blocks: Range<Int>) -> Cursor {
    let record = records + blocks.lowerBound * Record.stride
    return Cursor(
      position: UInt(starts[blocks.lowerBound]), end: UInt(starts[blocks.upperBound]), record: record,
      endRecord: records + blocks.upperBound * Record.stride, table: firstTable(record))
  }

  /// Advances all cursors until one of them is near its end.
  @inline(never)
  private func advanceAll(_ first: inout Cursor, _ second: inout Cursor, _ third: inout Cursor) {
    // Copies, which the compiler keeps in registers.
    var (a, b, c) = (first, second, third)
    while true {
      let rounds = min(rounds(a), rounds(b), rounds(c))
      guard rounds > 0 else { break }
      for _ in 0..<rounds {
        var (bitsOfA, bitsOfB, bitsOfC) = (word(a.position), word(b.position), word(c.position))
        // `stepsPerRound` times.
        step(&a, &bitsOfA)
        step(&b, &bitsOfB)
        step(&c, &bitsOfC)
        step(&a, &bitsOfA)
        step(&b, &bitsOfB)
        step(&c, &bitsOfC)
        step(&a, &bitsOfA)
        step(&b, &bitsOfB)
        step(&c, &bitsOfC)
      }
    }
    (first, second, third) = (a, b, c)
  }

  /// Decodes the rest of a cursor's blocks.
  private func finish(_ cursor: inout Cursor) {
    while true {
      let rounds = rounds(cursor)
      guard rounds > 0 else { break }
      for _ in 0..<rounds {
        var bits = word(cursor.position)
        for _ in 0..<Self.stepsPerRound { step(&cursor, &bits) }
      }
    }
    while cursor.position < cursor.end, cursor.record < cursor.endRecord {
      var bits = word(cursor.position)
      step(&cursor, &bits)
    }
  }

  /// The rounds that a cursor can make, whatever it reads, before it passes its last block.
  @inline(__always)
  private func rounds(_ cursor: Cursor) -> Int {
    guard cursor.position < cursor.end else { return 0 }
    return min(
      Int(bitPattern: (cursor.end &- cursor.position) / Self.longestRound),
      (cursor.endRecord - cursor.record) / (Record.stride * Self.stepsPerRound))
  }

  /// Decodes one symbol from `bits`, the next ones, and shifts these.
  @inline(__always)
  private func step(_ cursor: inout Cursor, _ bits: inout UInt64) {
    var entry = entries[
      Int(bitPattern: cursor.table &+ UInt(bits &>> UInt64(64 - ValueTables.lookupBits)))]
    if _slowPath(entry >= ValueTables.isTooLong) {
      bits = word(cursor.position)
      entry =
        ValueTables.length(entry) > 0
        ? ValueTables.completed(entry, bits) : longCode(bits, cursor.passed, cursor.table)
    }
    let length = ValueTables.length(entry)
    let passed = cursor.passed &+ ValueTables.passed(entry)
    cursor.position &+= length
    bits = bits &<< UInt64(length)
    let record = cursor.record
    record[Int(places[Int(bitPattern: passed & 127)])] = Int16(truncatingIfNeeded: entry)
    cursor.passed = passed
    cursor.table |= UInt(StepTables.size)
    guard passed >= UInt(limit) else { return }
    record[Record.extent] = Int16(truncatingIfNeeded: passed)
    cursor.record = record + Record.stride
    cursor.table = firstTable(cursor.record)
    cursor.passed = 0
    cursor.position = UInt(nextStart(record))
    bits = word(cursor.position)
  }

  @inline(__always)
  private func nextStart(_ record: UnsafeMutablePointer<Int16>) -> UInt32 {
    UnsafeRawPointer(record + Record.next).loadUnaligned(as: UInt32.self)
  }

  @inline(__always)
  private func firstTable(_ record: UnsafeMutablePointer<Int16>) -> UInt {
    UInt(UInt16(bitPattern: record[Record.table]))
  }

  /// The entry of a symbol whose code is too long for the tables. If the bits begin with no code, the entry is one bit long:
  /// a DC difference of 0, or the end of a block.
  @inline(never)
  private func longCode(_ bits: UInt64, _ passed: UInt, _ table: UInt) -> UInt32 {
    let codes = codes[StepTables.codesIndex(ofTable: table)]
    if passed == 0 {
      guard let (size, length) = codes.dc.symbol(in: bits) else { return ValueTables.dcEntry(0, length: 1) }
      return ValueTables.dcEntry(HuffmanCode.value(bits << UInt64(length), size), length: length + size)
    }
    return ValueTables.longEntry(codes.ac, bits)
  }

  @inline(__always)
  private func word(_ position: UInt) -> UInt64 { NextBits.word(window, position) }
}
