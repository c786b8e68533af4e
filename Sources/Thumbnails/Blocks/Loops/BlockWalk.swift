/// The cursors of a `BlockFinder` in one window.
///
/// This is the innermost loop of decoding, so it uses pointers. They stay in their memory, because
/// - a cursor stops `longestRound` bits before the last bit that may be read,
/// - it stops before its room for beginnings of blocks is full, and
/// - entries of the step tables are indexed by `StepTables.lookupBits` bits.
struct BlockWalk {
  /// A place in the data that moves from step to step.
  struct Cursor {
    /// The index of the next bit in the window.
    var position: UInt
    /// The next coefficient of the current block, in zigzag order.
    var coefficient: UInt = 0
    /// The index in the step tables at which the table of the next step begins.
    var table: UInt
    /// The number of blocks whose beginnings are known. The last of them is the current one.
    var count = 1
    /// The number of blocks before the first faulty one. Only the first cursor has one: a guess that meets a fault was
    /// wrong so far, and begins again after it.
    var blocksBeforeFault = Int.max

    var isFaultless: Bool { blocksBeforeFault == .max }
  }

  let window: UnsafeRawPointer
  let entries: UnsafePointer<UInt16>
  /// As in `BlockFinder`.
  let tables: UnsafePointer<UInt16>
  /// The beginnings of the first cursor's blocks. Those of each further cursor follow after `room` places.
  let starts: UnsafeMutablePointer<UInt32>
  let room: Int
  /// For symbols that are too long for a step.
  let codes: [StepTables.Codes]
  /// As in `BlockFinder`.
  let period: Int

  /// The steps between two reads of a word.
  private static let stepsPerRound = 3
  /// The longest symbol, a code of 16 bits and 15 additional bits, in each step.
  private static let longestRound = UInt(stepsPerRound * (16 + 15))

  /// Finds the blocks up to `end` with a cursor at `start`, where an MCU begins, and at each of two guesses.
  ///
  /// - returns: the number of blocks found. `starts` contains their beginnings and the end of the last one.
  func find(from start: UInt, _ guess1: UInt, _ guess2: UInt, to end: UInt) -> Int {
    var known = cursor(at: start, starts)
    var (second, third) = (cursor(at: guess1, starts + room), cursor(at: guess2, starts + 2 * room))
    advanceAll(&known, to: guess1, &second, to: guess2, &third, to: end)
    advance(&known, to: guess1, starts, isGuess: false)
    if known.isFaultless {
      advance(&second, to: guess2, starts + room, isGuess: true)
      advance(&third, to: end, starts + 2 * room, isGuess: true)
      if join(&known, to: end, second, at: room) { _ = join(&known, to: end, third, at: 2 * room) }
    }
    return min(known.count - 1, known.blocksBeforeFault)
  }

  private func cursor(at position: UInt, _ starts: UnsafeMutablePointer<UInt32>) -> Cursor {
    starts[0] = UInt32(position)
    return Cursor(position: position, table: UInt(tables[0]))
  }

  // MARK: Advancing

  /// Advances all cursors until one of them has arrived.
  @inline(never)
  private func advanceAll(
    _ first: inout Cursor, to end1: UInt, _ second: inout Cursor, to end2: UInt, _ third: inout Cursor, to end3: UInt
  ) {
    // Copies, which the compiler keeps in registers.
    var (a, b, c) = (first, second, third)
    let (startsOfB, startsOfC) = (starts + room, starts + 2 * room)
    while true {
      let rounds = min(rounds(a, to: end1), rounds(b, to: end2), rounds(c, to: end3))
      guard rounds > 0 else { break }
      for _ in 0..<rounds {
        var (bitsOfA, bitsOfB, bitsOfC) = (word(a.position), word(b.position), word(c.position))
        // `stepsPerRound` times. A loop takes a tenth longer.
        step(&a, &bitsOfA, starts, isGuess: false)
        step(&b, &bitsOfB, startsOfB, isGuess: true)
        step(&c, &bitsOfC, startsOfC, isGuess: true)
        step(&a, &bitsOfA, starts, isGuess: false)
        step(&b, &bitsOfB, startsOfB, isGuess: true)
        step(&c, &bitsOfC, startsOfC, isGuess: true)
        step(&a, &bitsOfA, starts, isGuess: false)
        step(&b, &bitsOfB, startsOfB, isGuess: true)
        step(&c, &bitsOfC, startsOfC, isGuess: true)
      }
    }
    (first, second, third) = (a, b, c)
  }

  /// Advances one cursor until it has arrived.
  private func advance(
    _ cursor: inout Cursor, to end: UInt, _ starts: UnsafeMutablePointer<UInt32>, isGuess: Bool
  ) {
    while true {
      let rounds = rounds(cursor, to: end)
      guard rounds > 0 else { break }
      for _ in 0..<rounds {
        var bits = word(cursor.position)
        for _ in 0..<Self.stepsPerRound { step(&cursor, &bits, starts, isGuess: isGuess) }
      }
    }
  }

  /// Advances `known` until it arrives at a block that a guess has found, and appends the guess's blocks from there.
  ///
  /// - parameter place: the index in `starts` of the guess's first block.
  /// - returns: false if it does not arrive at one.
  private func join(_ known: inout Cursor, to end: UInt, _ guess: Cursor, at place: Int) -> Bool {
    var candidate = 0
    while known.position + Self.longestRound <= end, known.count < place {
      let count = known.count
      var bits = word(known.position)
      step(&known, &bits, starts, isGuess: false)
      // A guess that has read the same fault continues after it. `known` would join the guess there, and the fault would
      // be lost.
      guard known.isFaultless else { return false }
      guard known.count > count else { continue }
      while candidate < guess.count, starts[place + candidate] < starts[count] { candidate += 1 }
      guard candidate < guess.count else { return false }
      if starts[place + candidate] == starts[count], (count - candidate) % period == 0 {
        (starts + count).update(from: starts + place + candidate, count: guess.count - candidate)
        known = guess
        known.count += count - candidate
        return true
      }
    }
    return false
  }

  /// The rounds that a cursor can make, whatever it reads, before it passes `end` or has no more room.
  @inline(__always)
  private func rounds(_ cursor: Cursor, to end: UInt) -> Int {
    guard cursor.position < end, cursor.isFaultless else { return 0 }
    return min(
      Int(bitPattern: (end - cursor.position) / Self.longestRound), (room - cursor.count) / Self.stepsPerRound)
  }

  // MARK: Steps

  /// Makes one step from `bits`, the next ones, and shifts these.
  @inline(__always)
  private func step(
    _ cursor: inout Cursor, _ bits: inout UInt64, _ starts: UnsafeMutablePointer<UInt32>, isGuess: Bool
  ) {
    let entry = UInt(
      entries[Int(bitPattern: cursor.table &+ UInt(bits &>> UInt64(64 - StepTables.lookupBits)))])
    var length = entry & 31
    var coefficient = cursor.coefficient &+ entry &>> 5
    if _slowPath(coefficient & 255 > 64) {
      let symbol = symbol(at: cursor.position, cursor.coefficient, cursor.table)
      if symbol.isFault {
        if isGuess {
          cursor.count = 0
        } else {
          cursor.blocksBeforeFault = min(cursor.blocksBeforeFault, cursor.count - 1)
        }
      }
      (cursor.position, coefficient) = (symbol.end, symbol.coefficient)
      bits = word(cursor.position)
      length = 0
    }
    cursor.position &+= length
    bits = bits &<< UInt64(length)
    // Overwritten unless the block ends here.
    starts[cursor.count] = UInt32(truncatingIfNeeded: cursor.position)
    // The end of a block by its 64th coefficient, or by `StepTables.endOfBlock`.
    let isEnd = coefficient &>> 6 != 0
    let first = UInt(tables[cursor.count])
    let further = cursor.table | UInt(StepTables.size)
    cursor.table = isEnd ? first : further
    cursor.coefficient = isEnd ? 0 : coefficient
    cursor.count &+= isEnd ? 1 : 0
  }

  /// Decodes one symbol, of any length.
  ///
  /// - returns: the bit after its additional bits, and the next coefficient, which is at least 64 after the end of the
  ///   block. If there is no such symbol, the next bit, and the end of a block.
  @inline(never)
  private func symbol(
    at position: UInt, _ coefficient: UInt, _ table: UInt
  ) -> (end: UInt, coefficient: UInt, isFault: Bool) {
    let codes = codes[StepTables.codesIndex(ofTable: table)]
    let bits = word(position)
    if coefficient == 0 {
      if let (size, length) = codes.dc.symbol(in: bits) {
        return (position + UInt(length + size), 1, false)
      }
    } else if let (symbol, length) = codes.ac.symbol(in: bits) {
      let (run, size) = (symbol >> 4, symbol & 15)
      if size == 0, run < 15 { return (position + UInt(length), 64, false) }
      let next = coefficient + UInt(run) + 1
      if next <= 64 { return (position + UInt(length + size), next, false) }
    }
    return (position + 1, 64, true)
  }

  @inline(__always)
  private func word(_ position: UInt) -> UInt64 { NextBits.word(window, position) }
}
