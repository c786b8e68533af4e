/// Scans of a progressive file that tell of one component's detail. What is kept is read; of the rest it is remembered
/// which coefficients are not zero, for by those refinements are counted.
extension BlockScanData {
  /// Coefficients for the first time (ITU-T T.81, G.1.2.2).
  func readDetail(
    _ run: Run, _ window: RawSpan, _ kept: inout MutableSpan<Int16>, _ marks: inout MutableSpan<UInt64>,
    _ cursor: inout Cursor
  ) throws(BlockError) -> Int {
    let block = blocks[0]
    let tables = symbolTables.span
    var place = cursor.position
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, place <= run.lastStart {
      defer { column += 1 }
      guard cursor.emptyBlocks == 0 else {
        cursor.emptyBlocks -= 1
        continue
      }
      let at = block.start + run.row * block.rowStep + column * block.columnStep
      var mark = marks[at]
      var next = scan.first
      while next <= scan.last {
        let bits = Self.word(window, place)
        let (length, zeros, size) = try detailSymbol(bits, 0, tables)
        place += length
        if size == 0, zeros < 15 {
          cursor.emptyBlocks = Self.blockCount(bits << UInt64(length), zeros) - 1
          place += zeros
          break
        }
        next += zeros
        if size > 0 {
          guard next <= scan.last else { throw .irregular }
          mark |= 1 << UInt64(next)
          if let index = BlockStore.index(of: next) {
            let value = Self.value(bits << UInt64(length), size) << Int32(scan.low)
            kept[at * 4 + index] = Int16(truncatingIfNeeded: value)
          }
          place += size
        }
        next += 1
      }
      // A run of zeros may end with the scan's last coefficient, never behind it.
      guard next <= scan.last + 1 else { throw .irregular }
      marks[at] = mark
    }
    cursor.position = place
    return column
  }

  /// One bit more of coefficients that are not zero, and those that are no longer (ITU-T T.81, G.1.2.3).
  func refineDetail(
    _ run: Run, _ window: RawSpan, _ kept: inout MutableSpan<Int16>, _ marks: inout MutableSpan<UInt64>,
    _ cursor: inout Cursor
  ) throws(BlockError) -> Int {
    let block = blocks[0]
    let tables = symbolTables.span
    var place = cursor.position
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, place <= run.lastStart {
      let at = block.start + run.row * block.rowStep + column * block.columnStep
      let mark = marks[at]
      var added: UInt64 = 0
      var next = scan.first
      while cursor.emptyBlocks == 0, next <= scan.last {
        let bits = Self.word(window, place)
        var (length, zeros, size) = try detailSymbol(bits, 0, tables)
        place += length
        if size == 0, zeros < 15 {
          cursor.emptyBlocks = Self.blockCount(bits << UInt64(length), zeros)
          place += zeros
          break
        }
        guard size <= 1 else { throw .irregular }
        let isPositive = (bits << UInt64(length)) >> 63 == 1
        place += size
        // Passes over as many zeros, with the bits of what stands between them, to the place of what comes new.
        while next <= scan.last {
          if mark >> UInt64(next) & 1 == 1 {
            refine(next, window, place, at, &kept)
            place += 1
          } else if zeros == 0 {
            break
          } else {
            zeros -= 1
          }
          next += 1
        }
        guard next <= scan.last else {
          // A run of zeros may end with the scan's last coefficient; nothing new can.
          guard size == 0, zeros == 0 else { throw .irregular }
          break
        }
        if size == 1 {
          added |= 1 << UInt64(next)
          if let index = BlockStore.index(of: next) {
            kept[at * 4 + index] = (isPositive ? 1 : -1) << Int16(scan.low)
          }
        }
        next += 1
      }
      if cursor.emptyBlocks > 0 {
        cursor.emptyBlocks -= 1
        while next <= min(scan.last, 4) {
          if mark >> UInt64(next) & 1 == 1 {
            refine(next, window, place, at, &kept)
            place += 1
          }
          next += 1
        }
        // Of what is not kept the bits are passed over all at once.
        let others = mark & (~0 << UInt64(next)) & (~0 >> UInt64(63 - scan.last))
        if next <= scan.last { place += others.nonzeroBitCount }
      }
      marks[at] = mark | added
      column += 1
    }
    cursor.position = place
    return column
  }

  /// How many blocks, this one among them, hold nothing more: a power of two and as many bits (G.1.2.2, EOBn).
  @inline(__always)
  private static func blockCount(_ bits: UInt64, _ power: Int) -> Int {
    1 << power + (power == 0 ? 0 : Int(bits >> UInt64(64 - power)))
  }

  /// A bit more of one coefficient, away from zero.
  @inline(__always)
  private func refine(
    _ next: Int, _ window: RawSpan, _ place: Int, _ at: Int, _ kept: inout MutableSpan<Int16>
  ) {
    guard let own = BlockStore.index(of: next), Self.word(window, place) >> 63 == 1 else { return }
    let index = at * 4 + own
    let bit = Int16(1) << Int16(scan.low)
    kept[index] = kept[index] < 0 ? kept[index] &- bit : kept[index] &+ bit
  }
}
