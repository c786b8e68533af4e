/// Makes samples from the coefficients of a sequential scan, a row of MCUs at a time, and resizes the samples.
///
/// *Concurrency*: for one thread at a time.
final class BandTarget: ScanTarget {
  /// A block that each MCU contains once.
  private struct Block {
    let component: Int
    /// The row and the column of its first sample in the first MCU of a row.
    let row: Int
    let column: Int
    /// The columns from there to the same block of the next MCU.
    let columnStep: Int
  }

  /// The blocks that are decoded at once, at most: so many that their coefficients stay in a processor's first cache.
  private static let most = 288

  private typealias Record = CoefficientWalk.Record

  private let limit: Int
  private let blocks: [Block]
  private let transforms: [InverseTransform]
  private let tables: CoefficientTables
  /// The number of blocks that are decoded at once, at most: those of whole MCUs.
  private let room: Int
  private let resize: BandedResize
  private let proceed: CancellationCheck
  /// The planes of the current row of MCUs, in the order of the scan's components.
  private var band: [PlaneView] = []
  /// The records of `CoefficientWalk`.
  private var records: [Int16]

  /// The places of `CoefficientWalk`.
  private static let places: [UInt8] = [64] + InverseTransform.places + [UInt8](repeating: 64, count: 63)

  /// - parameters:
  ///   - decoder: of the scan, which has all components of the frame in their order.
  ///   - transforms: of each component.
  ///   - proceed: called as by `Resampler.advance`.
  init(
    _ decoder: ScanDecoder, _ frame: FrameHeader, _ transforms: [InverseTransform], _ steps: StepTables,
    _ known: KnownTables, into resize: BandedResize, proceed: @escaping CancellationCheck
  ) {
    self.transforms = transforms
    limit = transforms.map(\.coefficientCount).max() ?? 64
    tables = CoefficientTables(steps, reusing: known.coefficients)
    known.coefficients = tables
    (self.resize, self.proceed) = (resize, proceed)
    var blocks: [Block] = []
    for (index, component) in frame.components.enumerated() {
      let side = transforms[index].side
      // In a scan of one component, an MCU is one block.
      let (h, v) = frame.components.count == 1 ? (1, 1) : (component.h, component.v)
      for row in 0..<v {
        for column in 0..<h {
          blocks.append(Block(component: index, row: row * side, column: column * side, columnStep: h * side))
        }
      }
    }
    self.blocks = blocks
    room = max(Self.most / blocks.count, 1) * blocks.count
    records = [Int16](repeating: 0, count: (room + 1) * Record.stride)
    for index in 0...room {
      let table = UInt16(tables.starts[blocks[index % blocks.count].component])
      records[index * Record.stride + Record.table] = Int16(bitPattern: table)
    }
  }

  /// How the components of a picture are decoded.
  ///
  /// - parameters:
  ///   - sides: samples of a block along each axis, for each component.
  ///   - inWholeMCUs: whether a band of a single component is as high as its sampling factor says, as for libjpeg.
  static func layouts(_ info: SourceInfo, sides: [Int], inWholeMCUs: Bool = false) -> [BandedResize.Layout] {
    let grid = info.grid
    return zip(info.sampling, sides).map { sampling, side in
      let (across, down) = (info.pixels.width * sampling.h * side, info.pixels.height * sampling.v * side)
      let (unitWidth, unitHeight) = (8 * grid.hMax, 8 * grid.vMax)
      let plane = PlaneShape(
        columns: across.ceilingQuotient(unitWidth), rows: down.ceilingQuotient(unitHeight),
        columnsExact: Double(across) / Double(unitWidth), rowsExact: Double(down) / Double(unitHeight))
      guard inWholeMCUs || info.sampling.count > 1 else {
        return BandedResize.Layout(
          plane: plane, stride: plane.columns.ceilingQuotient(side) * side, bandRows: side,
          paddedRows: plane.rows.ceilingQuotient(side) * side)
      }
      let bandRows = sampling.v * side
      return BandedResize.Layout(
        plane: plane, stride: grid.across * sampling.h * side, bandRows: bandRows, paddedRows: grid.down * bandRows)
    }
  }

  func beginRow() { band = resize.nextBand() }

  func endRow() throws(BlockDecoderError) {
    do { try resize.advance(proceed: proceed) } catch { throw .failed(error) }
  }

  // MARK: Blocks that have been found

  func decodeFound(
    _ found: inout FoundBlocks, _ columns: Range<Int>, of row: Int, _ reader: SegmentReader, _ decoder: ScanDecoder,
    _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) -> Int {
    let most = min(found.indices.count, room) / blocks.count
    let columns = columns.prefix(most)
    let count = columns.count * blocks.count
    try found.starts.withUnsafeBufferPointer { starts throws(BlockDecoderError) in
      let starts = UnsafeBufferPointer(rebasing: starts[found.indices.lowerBound...found.indices.lowerBound + count])
      walk(starts, reader, decoder)
      try predict(starts, &cursor)
      cursor.position = Int(starts[count])
    }
    makeSamples(columns)
    found.removeFirst(count)
    return columns.upperBound
  }

  /// Decodes the coefficients of blocks.
  private func walk(_ starts: UnsafeBufferPointer<UInt32>, _ reader: SegmentReader, _ decoder: ScanDecoder) {
    reader.window.withUnsafeBytes { window in
      tables.entries.withUnsafeBufferPointer { entries in
        Self.places.withUnsafeBufferPointer { places in
          records.withUnsafeMutableBufferPointer { records in
            guard let window = window.baseAddress, let entries = entries.baseAddress, let places = places.baseAddress,
              let first = starts.baseAddress, let records = records.baseAddress
            else { return }
            CoefficientWalk(
              window: window, entries: entries, places: places, starts: first, records: records, limit: limit,
              codes: tables.codes
            ).decode(starts.count - 1)
          }
        }
      }
    }
  }

  /// Adds the predictors to the DC coefficients.
  private func predict(
    _ starts: UnsafeBufferPointer<UInt32>, _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) {
    var index = 0
    var records = records.mutableSpan
    while index < starts.count - 1 {
      for block in blocks {
        let place = index * Record.stride
        let value = cursor.dcPredictors[block.component] &+ Int32(records[place])
        guard let dc = Int16(exactly: value) else {
          throw .corrupt(Corruption(.valueOutOfRange, at: Int(starts[index])))
        }
        cursor.dcPredictors[block.component] = value
        records[place] = dc
        index += 1
      }
    }
  }

  /// Makes samples of the blocks of MCUs, and clears their coefficients.
  private func makeSamples(_ columns: Range<Int>) {
    let columnCount = columns.count
    records.withUnsafeMutableBufferPointer { [blocks, band, transforms] records in
      guard let start = records.baseAddress else { return }
      for (place, block) in blocks.enumerated() {
        let plane = band[block.component]
        let transform = transforms[block.component]
        var target = plane.row(block.row) + block.column + columns.lowerBound * block.columnStep
        var record = start + place * Record.stride
        transform.withSteps { steps in
          for _ in 0..<columnCount {
            let extent = Int(record[Record.extent])
            transform.makeSamples(
              of: record, steps, count: extent > 64 ? extent &- 64 : extent, into: target, stride: plane.stride)
            UnsafeMutableRawPointer(record).storeBytes(of: .zero, as: SIMD64<Int16>.self)
            target += block.columnStep
            record += blocks.count &* Record.stride
          }
        }
      }
    }
  }

  // MARK: Block after block

  func decode(
    _ run: ScanDecoder.Run, _ window: RawSpan, _ decoder: ScanDecoder, _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) -> Int {
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, cursor.position <= run.lastStart {
      for (place, block) in blocks.enumerated() {
        let extent = try decode(block.component, place, window, decoder, &cursor)
        records[place * Record.stride + Record.extent] = Int16(extent)
      }
      makeSamples(column..<column + 1)
      column += 1
    }
    return column
  }

  /// Decodes a block.
  ///
  /// - parameter index: of the block's place in `records`.
  /// - returns: the number of coefficients, in zigzag order, that may differ from 0.
  private func decode(
    _ component: Int, _ index: Int, _ window: RawSpan, _ decoder: ScanDecoder, _ cursor: inout ScanDecoder.Cursor
  ) throws(BlockDecoderError) -> Int {
    let start = index * Record.stride
    var position = cursor.position
    let bits = NextBits.word(window, position)
    let (length, size) = try decoder.dcSymbol(bits, at: position, component, decoder.dcLookups.span)
    let value = cursor.dcPredictors[component] &+ HuffmanCode.value(bits &<< UInt64(length), size)
    guard let dc = Int16(exactly: value) else { throw .corrupt(Corruption(.valueOutOfRange, at: position)) }
    cursor.dcPredictors[component] = value
    records[start] = dc
    position += length + size
    var next = 1
    while next < 64 {
      let bits = NextBits.word(window, position)
      let (length, run, size) = try decoder.acSymbol(bits, at: position, component, decoder.acLookups.span)
      if size == 0, run < 15 {
        position += length
        break
      }
      guard next + run < 64 else {
        // Zeros that go on after the block change no sample.
        throw size == 0 ? .irregular : .corrupt(Corruption(.tooManyCoefficients, at: position))
      }
      next += run
      let value = HuffmanCode.value(bits &<< UInt64(length), size)
      records[start + Int(InverseTransform.places[next])] = size == 0 ? 0 : Int16(truncatingIfNeeded: value)
      position += length + size
      next += 1
    }
    cursor.position = position
    return next
  }
}
