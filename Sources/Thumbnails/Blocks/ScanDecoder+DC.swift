/// Decodes DC scans of a progressive file, and all scans of a sequential file.
extension ScanDecoder {
  /// Decodes the first scan of DC coefficients. In a sequential file, also decodes the AC coefficients that are kept
  /// and skips the others. Returns the column of the next MCU.
  func decodeDCFirst(
    _ run: Run, _ window: RawSpan, _ coefficients: inout MutableSpan<Int16>, _ cursor: inout Cursor
  ) throws(BlockDecoderError) -> Int {
    let blocks = blocks.span
    let dcLookups = dcLookups.span
    let acLookups = acLookups.span
    let shift = Int32(scan.approximationLow)
    let perBlock = side * side
    // The array is moved out of the cursor, so that it is not copied.
    var predictors: [Int32] = []
    swap(&predictors, &cursor.dcPredictors)
    var dcPredictors = predictors.mutableSpan
    var bits = NextBits(at: cursor.position)
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, bits.position <= run.lastStart {
      for index in blocks.indices {
        let block = blocks[index]
        bits.fill(from: window)
        let (length, size) = try dcSymbol(bits.word, at: bits.position, block.component, dcLookups)
        let value = dcPredictors[block.component] &+ HuffmanCode.value(bits.word &<< UInt64(length), size)
        // No legal DC coefficient is larger.
        guard let dc = Int16(exactly: value &<< shift) else {
          throw .corrupt(Corruption(.valueOutOfRange, at: bits.position))
        }
        dcPredictors[block.component] = value
        bits.drop(length + size)
        let blockStart = (block.start + run.row * block.rowStep + column * block.columnStep) * perBlock
        coefficients[blockStart] = dc
        guard let stepTables else { continue }
        var (position, next) = (bits.position, 1)
        if perBlock > 1 {
          (position, next) = try decodeLowestAC(window, position, block.component, acLookups, blockStart, &coefficients)
        }
        bits = NextBits(at: try skipAC(window, position, from: next, block.component, stepTables))
      }
      column += 1
    }
    swap(&predictors, &cursor.dcPredictors)
    cursor.position = bits.position
    return column
  }

  /// Decodes a refinement scan: one more bit of each DC coefficient (ITU-T T.81, G.1.2.1). Returns the column of the
  /// next MCU.
  func decodeDCRefine(_ run: Run, _ window: RawSpan, _ coefficients: inout MutableSpan<Int16>, _ cursor: inout Cursor)
    -> Int
  {
    let blocks = blocks.span
    let shift = Int16(scan.approximationLow)
    let perBlock = side * side
    var position = cursor.position
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, position <= run.lastStart {
      // One for each of at most ten blocks.
      var bits = NextBits.word(window, position)
      for index in blocks.indices {
        let block = blocks[index]
        let blockStart = (block.start + run.row * block.rowStep + column * block.columnStep) * perBlock
        coefficients[blockStart] |= Int16(truncatingIfNeeded: bits >> 63) &<< shift
        bits &<<= 1
      }
      position += blocks.count
      column += 1
    }
    cursor.position = position
    return column
  }

  /// Decodes the AC coefficients of a sequential file's block that are kept. Returns the positions of the next bit and
  /// of the next coefficient, which is 64 after the end of the block.
  @inline(__always)
  private func decodeLowestAC(
    _ window: RawSpan, _ start: Int, _ component: Int, _ tables: Span<UInt16>, _ blockStart: Int,
    _ coefficients: inout MutableSpan<Int16>
  ) throws(BlockDecoderError) -> (position: Int, next: Int) {
    var position = start
    var next = 1
    while next <= 4 {
      let bits = NextBits.word(window, position)
      let (length, run, size) = try acSymbol(bits, at: position, component, tables)
      position += length + size
      if size == 0, run < 15 { return (position, 64) }
      next += run
      if size > 0, let index = CoefficientStore.slot(of: next) {
        coefficients[blockStart + index] = Int16(truncatingIfNeeded: HuffmanCode.value(bits << UInt64(length), size))
      }
      next += 1
    }
    return (position, next)
  }

  /// Skips the coefficients of a block from `first` on. Returns the position of the next bit.
  @inline(__always)
  private func skipAC(
    _ window: RawSpan, _ start: Int, from first: Int, _ component: Int, _ tables: StepTables
  ) throws(BlockDecoderError) -> Int {
    let entries = tables.entries.span
    let base = tables.starts[component] + StepTables.size
    var position = start
    var next = first
    while next < 64 {
      var bits = NextBits.word(window, position)
      for _ in 0..<3 {
        let entry = Int(entries[base + Int(bits >> UInt64(64 - StepTables.lookupBits))])
        let reached = next + entry >> 5 & 255
        guard reached <= 64 else {
          (position, next) = try skipACSymbol(window, position, component, next)
          break
        }
        let length = entry & 31
        position += length
        if entry & StepTables.endOfBlock != 0 { return position }
        next = reached
        guard next < 64 else { return position }
        bits <<= UInt64(length)
      }
    }
    return position
  }

  /// Skips one symbol. Returns the positions of the next bit and of the next coefficient, which is 64 after the end of
  /// the block.
  @inline(never)
  private func skipACSymbol(
    _ window: RawSpan, _ position: Int, _ component: Int, _ next: Int
  ) throws(BlockDecoderError) -> (position: Int, next: Int) {
    guard let (symbol, length) = acCodes[component].symbol(in: NextBits.word(window, position)) else {
      throw .corrupt(Corruption(.noSuchCode, at: position))
    }
    let (run, size) = (symbol >> 4, symbol & 15)
    if size == 0, run < 15 { return (position + length, 64) }
    guard next + run + 1 <= 64 else {
      // Zeros that go on after the block change no sample.
      throw size == 0 ? .irregular : .corrupt(Corruption(.tooManyCoefficients, at: position))
    }
    return (position + length + size, next + run + 1)
  }
}
