/// Decodes the MCUs of a scan, and stores their coefficients or makes samples from them.
protocol ScanTarget {
  /// A row of MCUs begins.
  func beginRow()

  /// Decodes MCUs of a row while they begin at `run.lastStart` or earlier. Returns the column of the next one.
  func decode(
    _ run: ScanDecoder.Run, _ window: RawSpan, _ decoder: ScanDecoder, _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) -> Int

  /// Decodes at least one of the MCUs `columns` of a row. Their blocks have been found. Returns the next MCU's column.
  func decodeFound(
    _ found: inout FoundBlocks, _ columns: Range<Int>, of row: Int, _ reader: SegmentReader, _ decoder: ScanDecoder,
    _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) -> Int

  /// All MCUs of a row have been decoded.
  func endRow() throws(BlockDecoderError)
}

/// Stores the coefficients that the decoder keeps.
extension CoefficientStore: ScanTarget {
  func beginRow() {}
  func endRow() {}

  func decode(
    _ run: ScanDecoder.Run, _ window: RawSpan, _ decoder: ScanDecoder, _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) -> Int {
    var coefficients = coefficients.mutableSpan
    var masks = nonZeroMasks.mutableSpan
    let scan = decoder.scan
    return switch (isDC: scan.spectralStart == 0, isFirst: scan.approximationHigh == 0) {
    case (true, true): try decoder.decodeDCFirst(run, window, &coefficients, &cursor)
    case (true, false): decoder.decodeDCRefine(run, window, &coefficients, &cursor)
    case (false, true): try decoder.decodeACFirst(run, window, &coefficients, &masks, &cursor)
    case (false, false): try decoder.decodeACRefine(run, window, &coefficients, &masks, &cursor)
    }
  }

  func decodeFound(
    _ found: inout FoundBlocks, _ columns: Range<Int>, of row: Int, _ reader: SegmentReader, _ decoder: ScanDecoder,
    _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) -> Int {
    try decoder.decodeFound(&found, columns, of: row, reader, into: self, &cursor)
  }
}

/// Decodes the entropy-coded data of one scan.
struct ScanDecoder {
  /// The state that passes from one MCU to the next.
  struct Cursor {
    /// The index of the next bit in the window.
    var position = 0
    /// The DC predictor of each of the scan's components: the DC value of its previous block.
    var dcPredictors: [Int32] = [0, 0, 0, 0]
    /// The blocks left of the current EOB run, which have no new AC coefficients (progressive files only).
    var eobRun = 0
  }

  /// Some consecutive MCUs of a row.
  struct Run {
    let columns: Range<Int>
    let row: Int
    /// The last bit at which an MCU may begin.
    let lastStart: Int
  }

  let scan: ScanHeader
  let side: Int
  let isProgressive: Bool
  let blocks: [ScanHeader.Block]
  /// The Huffman codes of each of the scan's components.
  let dcCodes: [HuffmanCode]
  let acCodes: [HuffmanCode]
  /// The lookup tables of those codes, joined.
  let dcLookups: [UInt16]
  let acLookups: [UInt16]
  let valueTables: ValueTables
  /// Nil for the scans of a progressive file.
  let stepTables: StepTables?
  private let mcus: (across: Int, down: Int)
  private let restartInterval: Int

  init(
    _ scan: ScanHeader, _ frame: FrameHeader, _ huffman: HuffmanTables, _ known: KnownTables, side: Int,
    restartInterval: Int
  ) throws(BlockDecoderError) {
    self.scan = scan
    self.side = side
    self.restartInterval = restartInterval
    isProgressive = frame.isProgressive
    blocks = try scan.blocks(in: frame)
    mcus = scan.mcus(in: frame)
    // DC refinement scans contain no Huffman codes.
    let needsDC = scan.spectralStart == 0 && scan.approximationHigh == 0
    let needsAC = scan.spectralEnd > 0
    let dc = needsDC ? scan.components.map { huffman.dc[$0.dcTable] } : []
    let ac = needsAC ? scan.components.map { huffman.ac[$0.acTable] } : []
    dcCodes = dc.compactMap { $0 }
    acCodes = ac.compactMap { $0 }
    guard dcCodes.count == dc.count, acCodes.count == ac.count else { throw .irregular }
    var dcLookups: [UInt16] = []
    for code in dcCodes {
      guard let lookup = code.dcLookup() else { throw .irregular }
      dcLookups += lookup
    }
    self.dcLookups = dcLookups
    acLookups = acCodes.flatMap { $0.acLookup() }
    guard !frame.isProgressive else {
      (stepTables, valueTables) = (nil, ValueTables([]))
      return
    }
    let destinations = scan.components.map { (dc: $0.dcTable, ac: $0.acTable) }
    let stepTables = StepTables(destinations, dc: dcCodes, ac: acCodes, reusing: known.steps)
    valueTables = ValueTables(side == 1 ? [] : acCodes, reusing: known.values)
    self.stepTables = stepTables
    known.steps = stepTables
    if side > 1 { known.values = valueTables }
  }

  /// Decodes the scan from its first byte of entropy-coded data, and leaves the reader at the marker after it.
  func decode(
    _ reader: inout SegmentReader, into target: some ScanTarget, _ input: DecoderInput
  ) throws(BlockDecoderError) {
    try reader.beginEntropyData()
    var cursor = Cursor()
    var found = FoundBlocks(blocks, stepTables)
    var restarts = 0
    var untilRestart = restartInterval > 0 ? restartInterval : Int.max
    for row in 0..<mcus.down {
      if input.isCancelled { throw .failed(.cancelled) }
      var column = 0
      target.beginRow()
      while column < mcus.across {
        if untilRestart == 0 {
          try restart(&reader, restarts, cursor)
          cursor = Cursor()
          restarts += 1
          untilRestart = restartInterval
          found.removeAll()
        }
        let columns = column..<column + min(mcus.across - column, untilRestart)
        let lastStart = Self.lastStart(in: reader)
        if found.isEmpty { found.find(in: reader, from: cursor.position, to: lastStart) }
        let next =
          found.isEmpty
          ? try decode(columns, of: row, reader, into: target, &cursor)
          : try target.decodeFound(&found, columns, of: row, reader, self, &cursor)
        untilRestart -= next - column
        column = next
        if found.isEmpty, !reader.isAtMarker, cursor.position > lastStart {
          try reader.refill(after: cursor.position >> 3)
          cursor.position &= 7
        }
      }
      try target.endRow()
    }
    try end(&reader, cursor)
  }

  private func restart(_ reader: inout SegmentReader, _ count: Int, _ cursor: Cursor) throws(BlockDecoderError) {
    try end(&reader, cursor)
    guard try reader.marker() == .rst(after: count) else { throw .irregular }
    try reader.beginEntropyData()
  }

  /// Checks that the data ends with the last block.
  private func end(_ reader: inout SegmentReader, _ cursor: Cursor) throws(BlockDecoderError) {
    guard cursor.eobRun == 0 else { throw .irregular }
    try reader.endEntropyData(at: (cursor.position + 7) >> 3)
  }

  /// The last bit at which an MCU can begin and is certain to be in the window as a whole. After `refill` it is never
  /// before the next bit.
  private static func lastStart(in reader: SegmentReader) -> Int { (reader.end - SegmentReader.longestMCU) * 8 + 7 }

  /// Decodes MCUs of a row while whole ones are certain to be in the window. Returns the column of the next one.
  private func decode(
    _ columns: Range<Int>, of row: Int, _ reader: SegmentReader, into target: some ScanTarget, _ cursor: inout Cursor
  ) throws(BlockDecoderError) -> Int {
    // At a marker, all of the data is in the window, so an MCU may begin anywhere. Decoding past the end is detected
    // below.
    let lastBit = reader.end * 8
    let run = Run(columns: columns, row: row, lastStart: reader.isAtMarker ? lastBit : Self.lastStart(in: reader))
    let next: Int
    do {
      next = try target.decode(run, reader.window.span.bytes, self, &cursor)
    } catch .corrupt(let corruption) where corruption.position + NextBits.longestSymbol > lastBit {
      // The fault may be an effect of bits after the end, and then the data ends early.
      throw .irregular
    }
    guard cursor.position <= lastBit else { throw .irregular }
    return next
  }

  // MARK: Bits

  /// The DC symbol that a word, the bits from `position` on, begins with: the length of its code, and the size of the
  /// difference to the predictor.
  @inline(__always)
  func dcSymbol(
    _ bits: UInt64, at position: Int, _ component: Int, _ tables: Span<UInt16>
  ) throws(BlockDecoderError) -> (length: Int, size: Int) {
    let shift = UInt64(64 - HuffmanCode.dcLookupBits)
    let entry = Int(tables[component << HuffmanCode.dcLookupBits + Int(bits >> shift)])
    if entry != 0 { return (entry & 31, entry >> 8) }
    guard let (symbol, length) = dcCodes[component].symbol(in: bits) else {
      throw .corrupt(Corruption(.noSuchCode, at: position))
    }
    return (length, symbol)
  }

  /// The AC symbol that a word, the bits from `position` on, begins with: the length of its code, the run of zeros
  /// (RRRR) and the size (SSSS).
  @inline(__always)
  func acSymbol(
    _ bits: UInt64, at position: Int, _ component: Int, _ tables: Span<UInt16>
  ) throws(BlockDecoderError) -> (length: Int, run: Int, size: Int) {
    let shift = UInt64(64 - HuffmanCode.acLookupBits)
    let entry = Int(tables[component << HuffmanCode.acLookupBits + Int(bits >> shift)])
    if entry != 0 { return (entry & 31, entry >> 12, entry >> 8 & 15) }
    guard let (symbol, length) = acCodes[component].symbol(in: bits) else {
      throw .corrupt(Corruption(.noSuchCode, at: position))
    }
    return (length, symbol >> 4, symbol & 15)
  }
}
