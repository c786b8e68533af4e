/// Finds where the blocks of a sequential scan begin, several times as fast as decoding them one after the other.
///
/// A decoder that follows the data has to wait, in each step, for the table lookup of the step before. So three cursors
/// follow it at once, at three places. The first begins at a known block. The others begin at a guess: they take an
/// arbitrary byte for the beginning of an MCU. At first they find nonsense, but Huffman codes synchronise by
/// themselves: in photographs, a cursor meets the beginning of a real block after a dozen blocks in the mean, and from
/// then on finds real ones only. A guess counts from where the cursor before it arrives at one of its blocks, with the
/// same tables ahead. A guess that the cursor before never meets costs time, and gives no wrong block.
///
/// The coefficients are decoded afterwards, block by block, from where each one begins.
///
/// *Source*: S. T. Klein and Y. Wiseman, "Parallel Huffman decoding with applications to JPEG files" (The Computer
/// Journal, 2003).
struct BlockFinder {
  /// The number of cursors. With four, the processor's registers do not suffice.
  private static let cursors = 3
  /// Each cursor has room for the beginnings of this many blocks.
  private static let room = 4096
  /// The least data for which guesses pay, in bits.
  static let leastSpan = cursors * 1024 * 8

  private let steps: StepTables
  /// The number of blocks after which the tables repeat: that of an MCU, or fewer if components share tables.
  private let period: Int
  /// For each block, counted from the beginning of an MCU, the index in the step tables of its first table.
  private let tables: [UInt16]
  /// The bits in which the blocks begin that the last call has found, and the bit after the last one. The blocks of
  /// each guess are first in a third of their own.
  private(set) var starts: [UInt32]
  /// The mean length of a block in the last call, in bits.
  private var blockLength = 40

  init(blocks: [ScanHeader.Block], _ steps: StepTables) {
    self.steps = steps
    let mcu = blocks.map { steps.starts[$0.component] }
    let periods = (1...mcu.count).filter { mcu.count % $0 == 0 }
    period = periods.first { period in mcu.indices.allSatisfy { mcu[$0] == mcu[$0 % period] } } ?? mcu.count
    var tables = [UInt16](repeating: 0, count: (Self.cursors - 1) * Self.room + 1)
    for index in mcu.indices { tables[index] = UInt16(mcu[index]) }
    for index in mcu.count..<tables.count { tables[index] = tables[index - mcu.count] }
    self.tables = tables
    starts = [UInt32](repeating: 0, count: Self.cursors * Self.room)
  }

  /// Finds blocks, and fills `starts`.
  ///
  /// - parameters:
  ///   - start: the bit at which an MCU begins.
  ///   - end: the bit from which on the window may not contain a whole block.
  /// - returns: the number of blocks. They are faultless, except that the values of DC coefficients are not checked. 0
  ///   if the data is too short, or the first block is faulty.
  mutating func find(in window: RawSpan, from start: Int, to end: Int) -> Int {
    let span = min(end - start, Self.cursors * Self.room * blockLength * 3 / 4)
    guard span >= Self.leastSpan else { return 0 }
    let guesses = (1..<Self.cursors).map { UInt((start + span * $0 / Self.cursors) & ~7) }
    let found = window.withUnsafeBytes { window in
      steps.entries.withUnsafeBufferPointer { entries in
        tables.withUnsafeBufferPointer { tables in
          starts.withUnsafeMutableBufferPointer { starts in
            guard let window = window.baseAddress, let entries = entries.baseAddress, let tables = tables.baseAddress,
              let starts = starts.baseAddress
            else { return 0 }
            let walk = BlockWalk(
              window: window, entries: entries, tables: tables, starts: starts, room: Self.room, codes: steps.codes,
              period: period)
            return walk.find(from: UInt(start), guesses[0], guesses[1], to: UInt(start + span))
          }
        }
      }
    }
    if found > 0 { blockLength = max((Int(starts[found]) - start) / found, 1) }
    return found
  }
}
