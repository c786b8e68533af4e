extension BlockScanData {
  /// The means of a run's blocks, and of a baseline file what follows each of them.
  func readMeans(
    _ run: Run, _ window: RawSpan, _ kept: inout MutableSpan<Int16>, _ cursor: inout Cursor
  ) throws(BlockError) -> Int {
    let blocks = blocks.span
    let tables = meanTables.span
    let symbols = symbolTables.span
    let details = detailTables.span
    let low = Int32(scan.low)
    let each = side * side
    // Taken out, not copied.
    var before: [Int32] = []
    swap(&before, &cursor.predictions)
    var predictions = before.mutableSpan
    var place = cursor.position
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, place <= run.lastStart {
      for index in blocks.indices {
        let block = blocks[index]
        let bits = Self.word(window, place)
        let shift = UInt64(64 - HuffmanCode.meanBits)
        let entry = Int(tables[block.part << HuffmanCode.meanBits + Int(bits >> shift)])
        var (length, size) = (entry & 31, entry >> 8)
        if length == 0 {
          guard let (symbol, codeLength) = meanCodes[block.part].symbol(in: bits) else { throw .irregular }
          (length, size) = (codeLength, symbol)
        }
        let value = predictions[block.part] + Self.value(bits << UInt64(length), size)
        // No legal mean is as large; what to make of it is libjpeg's to say.
        guard let mean = Int16(exactly: value << low) else { throw .irregular }
        predictions[block.part] = value
        place += length + size
        let at = (block.start + run.row * block.rowStep + column * block.columnStep) * each
        kept[at] = mean
        guard !isProgressive else { continue }
        var next = 1
        if each > 1 { (place, next) = try readLowest(window, place, block.part, symbols, at, &kept) }
        place = try skipDetail(window, place, from: next, block.part, details)
      }
      column += 1
    }
    swap(&before, &cursor.predictions)
    cursor.position = place
    return column
  }

  /// One bit more of each mean (ITU-T T.81, G.1.2.1).
  func refineMeans(_ run: Run, _ window: RawSpan, _ kept: inout MutableSpan<Int16>, _ cursor: inout Cursor) -> Int {
    let blocks = blocks.span
    let bit = Int16(1) << Int16(scan.low)
    let each = side * side
    var place = cursor.position
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, place <= run.lastStart {
      for index in blocks.indices {
        let block = blocks[index]
        let at = (block.start + run.row * block.rowStep + column * block.columnStep) * each
        if Self.word(window, place) >> 63 == 1 { kept[at] |= bit }
        place += 1
      }
      column += 1
    }
    cursor.position = place
    return column
  }

  /// The coefficients of a baseline block that are kept beside its mean. Returns the bit behind them and the next
  /// coefficient: 64 behind the end of the block.
  @inline(__always)
  private func readLowest(
    _ window: RawSpan, _ start: Int, _ part: Int, _ tables: Span<UInt16>, _ at: Int, _ kept: inout MutableSpan<Int16>
  ) throws(BlockError) -> (place: Int, next: Int) {
    var place = start
    var next = 1
    while next <= 4 {
      let bits = Self.word(window, place)
      let (length, run, size) = try detailSymbol(bits, part, tables)
      place += length + size
      if size == 0, run < 15 { return (place, 64) }
      next += run
      if size > 0, let index = BlockStore.index(of: next) {
        kept[at + index] = Int16(truncatingIfNeeded: Self.value(bits << UInt64(length), size))
      }
      next += 1
    }
    return (place, next)
  }

  /// Passes over the other coefficients of a block, from coefficient `first` on. Returns the bit behind them.
  @inline(__always)
  private func skipDetail(
    _ window: RawSpan, _ start: Int, from first: Int, _ part: Int, _ tables: Span<UInt16>
  ) throws(BlockError) -> Int {
    let base = part << HuffmanCode.detailBits
    var place = start
    var next = first
    while next < 64 {
      var bits = Self.word(window, place)
      // Two steps are sure to find their bits in a word: 27 and 12.
      for _ in 0..<2 {
        let entry = tables[base + Int(bits >> UInt64(64 - HuffmanCode.detailBits))]
        let reached = next + Int(entry >> 5 & 127)
        guard entry != 0, reached <= 64 else {
          (place, next) = try skipSymbol(window, place, part, next)
          break
        }
        let length = Int(entry & 31)
        place += length
        if entry & HuffmanCode.endOfBlock != 0 { return place }
        next = reached
        guard next < 64 else { return place }
        bits <<= UInt64(length)
      }
    }
    return place
  }

  /// Passes over one symbol. Returns the bit behind it and the next coefficient: 64 behind the end of a block.
  @inline(never)
  private func skipSymbol(
    _ window: RawSpan, _ place: Int, _ part: Int, _ next: Int
  ) throws(BlockError) -> (place: Int, next: Int) {
    guard let (symbol, length) = detailCodes[part].symbol(in: Self.word(window, place)) else { throw .irregular }
    let (run, size) = (symbol >> 4, symbol & 15)
    if size == 0, run < 15 { return (place + length, 64) }
    guard next + run + 1 <= 64 else { throw .irregular }
    return (place + length + size, next + run + 1)
  }
}
