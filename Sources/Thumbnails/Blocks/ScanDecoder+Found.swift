/// Decodes the coefficients kept of a sequential scan's blocks, once a `BlockFinder` has found where these begin.
///
/// Because no block has to wait for the one before, the processor decodes several at once. For the same reason there
/// are hardly any branches, which it would have to predict. In this innermost loop, indices are unchecked where
/// - a table is indexed by as many bits as it was made for, or
/// - a block is one of an MCU, and a component one of the scan.
extension ScanDecoder {
  /// Decodes as many of these MCUs of a row as have been found. Returns the column after them.
  func decodeFound(
    _ found: inout FoundBlocks, _ columns: Range<Int>, of row: Int, _ reader: SegmentReader,
    into store: CoefficientStore, _ cursor: inout Cursor
  ) throws(BlockDecoderError) -> Int {
    let columns = columns.prefix(found.indices.count / blocks.count)
    let starts = found.starts
    var coefficients = store.coefficients.mutableSpan
    var predictors = cursor.dcPredictors.mutableSpan
    try decode(
      columns, of: row, reader.window.span.bytes, starts.span.extracting(found.indices), &coefficients, &predictors)
    found.removeFirst(columns.count * blocks.count)
    cursor.position = Int(starts[found.indices.lowerBound])
    return columns.upperBound
  }

  /// Decodes MCUs of a row.
  ///
  /// - parameter starts: the bits in which their blocks begin. At least `SegmentReader.longestMCU` bytes follow each.
  private func decode(
    _ columns: Range<Int>, of row: Int, _ window: RawSpan, _ starts: Span<UInt32>,
    _ coefficients: inout MutableSpan<Int16>, _ predictors: inout MutableSpan<Int32>
  ) throws(BlockDecoderError) {
    precondition(starts.count >= columns.count * blocks.count)
    let count = side == 1 ? 1 : 4
    for (place, block) in blocks.enumerated() {
      let last = block.start + row * block.rowStep + (columns.upperBound - 1) * block.columnStep
      precondition((last + 1) * count <= coefficients.count, "block \(place)")
    }
    if side == 1 {
      try decode(columns, of: row, window, starts, &coefficients, &predictors, keepsAC: false)
    } else {
      try decode(columns, of: row, window, starts, &coefficients, &predictors, keepsAC: true)
    }
  }

  @inline(__always)
  private func decode(
    _ columns: Range<Int>, of row: Int, _ window: RawSpan, _ starts: Span<UInt32>,
    _ coefficients: inout MutableSpan<Int16>, _ predictors: inout MutableSpan<Int32>, keepsAC: Bool
  ) throws(BlockDecoderError) {
    let blocks = blocks.span
    let dcLookups = dcLookups.span
    let values = valueTables.entries.span
    let allPlaces = CoefficientStore.places
    let places = allPlaces.span
    var found = 0
    for column in columns {
      var place = 0
      while place < blocks.count {
        // In a register for all blocks of a component, because each one waits for the predictor before.
        let component = blocks[unchecked: place].component
        var predictor = predictors[unchecked: component]
        repeat {
          let block = blocks[unchecked: place]
          let position = Int(starts[unchecked: found])
          found &+= 1
          place &+= 1
          let bits = NextBits.word(window, position)
          let (length, size) = try dcSymbol(bits, at: position, component, dcLookups)
          predictor &+= HuffmanCode.value(bits &<< UInt64(length), size)
          let dc = Int16(truncatingIfNeeded: predictor)
          guard Int32(dc) == predictor else { throw .corrupt(Corruption(.valueOutOfRange, at: position)) }
          var index = block.start &+ row &* block.rowStep &+ column &* block.columnStep
          if keepsAC {
            index = index &* 4
            decodeLowestAC(
              window, position &+ length &+ size, component &<< ValueTables.lookupBits, values, places, index,
              &coefficients)
          }
          coefficients[unchecked: index] = dc
        } while place < blocks.count && blocks[unchecked: place].component == component
        predictors[unchecked: component] = predictor
      }
    }
  }

  /// Decodes the AC coefficients kept of a block, and overwrites the DC coefficient.
  ///
  /// - parameter table: the index in `values` of the component's table.
  @inline(__always)
  private func decodeLowestAC(
    _ window: RawSpan, _ start: Int, _ table: Int, _ values: Span<UInt32>, _ places: Span<UInt8>, _ index: Int,
    _ coefficients: inout MutableSpan<Int16>
  ) {
    var position = start
    var passed = 1
    // Always four symbols, even if the block ends earlier or has passed the last coefficient kept. What follows is put
    // in the place of the DC coefficient.
    for _ in 0..<2 {
      // A word has at least 57 bits. A symbol and the index of another one need at most 43.
      var bits = NextBits.word(window, position)
      for _ in 0..<2 {
        var entry = values[unchecked: table &+ Int(truncatingIfNeeded: bits &>> UInt64(64 - ValueTables.lookupBits))]
        if _slowPath(entry >= ValueTables.isTooLong) {
          entry = longSymbol(entry, &bits, in: window, position, table)
        }
        let length = Int(bitPattern: ValueTables.length(entry))
        position &+= length
        bits = bits &<< UInt64(length)
        passed &+= Int(bitPattern: ValueTables.passed(entry))
        let place = Int(places[unchecked: passed])
        coefficients[unchecked: index &+ place] = Int16(truncatingIfNeeded: entry)
      }
    }
  }

  /// Completes an entry for a symbol that is too long. After the end of a block there may be no such symbol.
  ///
  /// - parameter bits: the next ones. They are read anew, so that they contain the symbol and the index of another.
  @inline(__always)
  private func longSymbol(
    _ entry: UInt32, _ bits: inout UInt64, in window: RawSpan, _ position: Int, _ table: Int
  ) -> UInt32 {
    bits = NextBits.word(window, position)
    guard ValueTables.length(entry) > 0 else {
      return ValueTables.longEntry(acCodes[table &>> ValueTables.lookupBits], bits)
    }
    return ValueTables.completed(entry, bits)
  }
}
