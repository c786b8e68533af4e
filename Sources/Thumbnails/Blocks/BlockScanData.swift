/// The entropy-coded data of one scan.
struct BlockScanData {
  /// How far decoding is.
  struct Cursor {
    /// Where the next bit stands in the window.
    var position = 0
    /// The mean of the block before, of each of the scan's components.
    var predictions: [Int32] = [0, 0, 0, 0]
    /// Blocks to come of which the scan tells nothing more (progressive detail).
    var emptyBlocks = 0
  }

  /// MCUs of a row.
  struct Run {
    let columns: Range<Int>
    let row: Int
    /// The last bit at which an MCU may begin.
    let lastStart: Int
  }

  let scan: BlockScan
  let side: Int
  let isProgressive: Bool
  let blocks: [BlockScan.Block]
  /// For each of the scan's components, by its place there.
  let meanCodes: [HuffmanCode]
  let detailCodes: [HuffmanCode]
  /// The tables of those, one behind the other.
  let meanTables: [UInt16]
  let symbolTables: [UInt16]
  let detailTables: [UInt16]
  private let mcus: (across: Int, down: Int)
  private let restartInterval: Int

  init(
    _ scan: BlockScan, _ frame: BlockFrame, _ codes: BlockCodes, side: Int, restartInterval: Int
  ) throws(BlockError) {
    self.scan = scan
    self.side = side
    self.restartInterval = restartInterval
    isProgressive = frame.isProgressive
    blocks = try scan.blocks(in: frame)
    mcus = scan.mcus(in: frame)
    // A refinement of means is bits alone.
    let needsMeans = scan.first == 0 && scan.high == 0
    let needsDetail = scan.last > 0
    let means = needsMeans ? scan.parts.map { codes.means[$0.meanCode] } : []
    let detail = needsDetail ? scan.parts.map { codes.detail[$0.detailCode] } : []
    meanCodes = means.compactMap { $0 }
    detailCodes = detail.compactMap { $0 }
    guard meanCodes.count == means.count, detailCodes.count == detail.count else { throw .irregular }
    var tables: [UInt16] = []
    for code in meanCodes {
      guard let table = code.meanTable() else { throw .irregular }
      tables += table
    }
    meanTables = tables
    let symbols = detailCodes.map { $0.symbolTable() }
    symbolTables = symbols.flatMap { $0 }
    detailTables = frame.isProgressive ? [] : zip(detailCodes, symbols).flatMap { $0.detailTable(of: $1) }
  }

  /// Decodes the scan from its first byte, and leaves the window at the marker behind it.
  func decode(_ bytes: inout JPEGBytes, into store: BlockStore, _ input: DecoderInput) throws(BlockError) {
    try bytes.beginData()
    var cursor = Cursor()
    var restarts = 0
    var untilRestart = restartInterval > 0 ? restartInterval : Int.max
    for row in 0..<mcus.down {
      if input.isCancelled { throw .failed(.cancelled) }
      var column = 0
      while column < mcus.across {
        if untilRestart == 0 {
          try restart(&bytes, restarts, cursor)
          cursor = Cursor()
          restarts += 1
          untilRestart = restartInterval
        }
        let columns = column..<column + min(mcus.across - column, untilRestart)
        let next = try decode(columns, of: row, bytes, into: store, &cursor)
        untilRestart -= next - column
        column = next
        if !bytes.isAtMarker, cursor.position > Self.lastStart(in: bytes) {
          try bytes.moreData(behind: cursor.position >> 3)
          cursor.position &= 7
        }
      }
    }
    try end(&bytes, cursor)
  }

  private func restart(_ bytes: inout JPEGBytes, _ count: Int, _ cursor: Cursor) throws(BlockError) {
    try end(&bytes, cursor)
    guard try bytes.marker() == 0xD0 + count % 8 else { throw .irregular }
    try bytes.beginData()
  }

  /// The data must end where the blocks do.
  private func end(_ bytes: inout JPEGBytes, _ cursor: Cursor) throws(BlockError) {
    guard cursor.emptyBlocks == 0 else { throw .irregular }
    try bytes.endData(at: (cursor.position + 7) >> 3)
  }

  /// The last bit from which on a whole MCU is sure to be in the window. Never in its first byte's way: behind
  /// `moreData` decoding goes on.
  private static func lastStart(in bytes: JPEGBytes) -> Int { (bytes.end - JPEGBytes.longestMCU) * 8 + 7 }

  /// Decodes MCUs of a row while whole ones are sure to be in the window. Returns the column of the first left over.
  private func decode(
    _ columns: Range<Int>, of row: Int, _ bytes: JPEGBytes, into store: BlockStore, _ cursor: inout Cursor
  ) throws(BlockError) -> Int {
    // At a marker nothing follows: what reaches beyond the end is found out behind each MCU.
    let lastBit = bytes.end * 8
    let run = Run(columns: columns, row: row, lastStart: bytes.isAtMarker ? lastBit : Self.lastStart(in: bytes))
    let window = bytes.bytes.span.bytes
    var kept = store.coefficients.mutableSpan
    var marks = store.marks.mutableSpan
    let next =
      switch (isMeans: scan.first == 0, isFirst: scan.high == 0) {
      case (true, true): try readMeans(run, window, &kept, &cursor)
      case (true, false): refineMeans(run, window, &kept, &cursor)
      case (false, true): try readDetail(run, window, &kept, &marks, &cursor)
      case (false, false): try refineDetail(run, window, &kept, &marks, &cursor)
      }
    guard cursor.position <= lastBit else { throw .irregular }
    return next
  }

  // MARK: Bits

  /// The bits from `position` on: 57 at least, the rest zeros.
  @inline(__always)
  static func word(_ window: RawSpan, _ position: Int) -> UInt64 {
    UInt64(bigEndian: window.unsafeLoadUnaligned(fromByteOffset: position >> 3, as: UInt64.self))
      << UInt64(position & 7)
  }

  /// The number that the first `size` bits stand for (ITU-T T.81, F.2.2.1, EXTEND).
  @inline(__always)
  static func value(_ bits: UInt64, _ size: Int) -> Int32 {
    guard size > 0 else { return 0 }
    let value = Int32(truncatingIfNeeded: bits >> UInt64(64 - size))
    // Those that begin with a 0 are negative.
    let isNegative = Int32(truncatingIfNeeded: ~bits >> 63)
    return value &- isNegative &* (1 << Int32(size) &- 1)
  }

  /// The symbol of a component's detail at the front of a word: its code's length, the run before, the size.
  @inline(__always)
  func detailSymbol(
    _ bits: UInt64, _ part: Int, _ tables: Span<UInt16>
  ) throws(BlockError) -> (length: Int, run: Int, size: Int) {
    let shift = UInt64(64 - HuffmanCode.detailBits)
    let entry = Int(tables[part << HuffmanCode.detailBits + Int(bits >> shift)])
    if entry != 0 { return (entry & 31, entry >> 12, entry >> 8 & 15) }
    guard let (symbol, length) = detailCodes[part].symbol(in: bits) else { throw .irregular }
    return (length, symbol >> 4, symbol & 15)
  }
}
