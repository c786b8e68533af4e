/// Decodes AC scans of a progressive file, each of which has one component. Of coefficients that are not kept, at most the
/// bit in the non-zero mask is set, because refinement scans have a correction bit for every coefficient that is not
/// zero.
extension ScanDecoder {
  /// Decodes the first scan of a band of AC coefficients (ITU-T T.81, G.1.2.2). Returns the column of the next block.
  func decodeACFirst(
    _ run: Run, _ window: RawSpan, _ coefficients: inout MutableSpan<Int16>, _ masks: inout MutableSpan<UInt64>,
    _ cursor: inout Cursor
  ) throws(BlockDecoderError) -> Int {
    let block = blocks[0]
    let tables = acLookups.span
    var bits = NextBits(at: cursor.position)
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, bits.position <= run.lastStart {
      defer { column += 1 }
      guard cursor.eobRun == 0 else {
        cursor.eobRun -= 1
        continue
      }
      let blockStart = block.start + run.row * block.rowStep + column * block.columnStep
      var mask: UInt64 = 0
      var next = scan.spectralStart
      while next <= scan.spectralEnd {
        bits.fill(from: window)
        let (length, zeros, size) = try acSymbol(bits.word, at: bits.position, 0, tables)
        bits.drop(length)
        if size == 0, zeros < 15 {
          cursor.eobRun = Self.eobRunLength(bits.word, zeros) - 1
          bits.drop(zeros)
          break
        }
        next += zeros
        if size > 0 {
          guard next <= scan.spectralEnd else { throw .corrupt(Corruption(.tooManyCoefficients, at: bits.position)) }
          mask |= 1 << UInt64(next)
          if let index = CoefficientStore.slot(of: next) {
            let value = HuffmanCode.value(bits.word, size) << Int32(scan.approximationLow)
            coefficients[blockStart * 4 + index] = Int16(truncatingIfNeeded: value)
          }
          bits.drop(size)
        }
        next += 1
      }
      // A run of zeros may not extend past the band's last coefficient (Se).
      guard next <= scan.spectralEnd + 1 else { throw .irregular }
      if !masks.isEmpty { masks[blockStart] |= mask }
    }
    cursor.position = bits.position
    return column
  }

  /// Decodes a refinement scan: one more bit of the band's AC coefficients, some of which become non-zero (ITU-T T.81,
  /// G.1.2.3). Returns the column of the next block.
  func decodeACRefine(
    _ run: Run, _ window: RawSpan, _ coefficients: inout MutableSpan<Int16>, _ masks: inout MutableSpan<UInt64>,
    _ cursor: inout Cursor
  ) throws(BlockDecoderError) -> Int {
    let block = blocks[0]
    let tables = acLookups.span
    var position = cursor.position
    var column = run.columns.lowerBound
    while column < run.columns.upperBound, position <= run.lastStart {
      let blockStart = block.start + run.row * block.rowStep + column * block.columnStep
      let mask = masks[blockStart]
      var added: UInt64 = 0
      var next = scan.spectralStart
      while cursor.eobRun == 0, next <= scan.spectralEnd {
        let bits = NextBits.word(window, position)
        var (length, zeros, size) = try acSymbol(bits, at: position, 0, tables)
        position += length
        if size == 0, zeros < 15 {
          cursor.eobRun = Self.eobRunLength(bits << UInt64(length), zeros)
          position += zeros
          break
        }
        guard size <= 1 else { throw .corrupt(Corruption(.valueOutOfRange, at: position)) }
        let isPositive = (bits << UInt64(length)) >> 63 == 1
        position += size
        // Passes the run of zeros up to the new coefficient, and refines the non-zero coefficients in between.
        while next <= scan.spectralEnd {
          if mask >> UInt64(next) & 1 == 1 {
            refine(next, window, position, blockStart, &coefficients)
            position += 1
          } else if zeros == 0 {
            break
          } else {
            zeros -= 1
          }
          next += 1
        }
        guard next <= scan.spectralEnd else {
          // A run of zeros may end at the band's last coefficient, but then no new coefficient may follow.
          guard size == 0 else { throw .corrupt(Corruption(.tooManyCoefficients, at: position)) }
          guard zeros == 0 else { throw .irregular }
          break
        }
        if size == 1 {
          added |= 1 << UInt64(next)
          if let index = CoefficientStore.slot(of: next) {
            coefficients[blockStart * 4 + index] = (isPositive ? 1 : -1) << Int16(scan.approximationLow)
          }
        }
        next += 1
      }
      if cursor.eobRun > 0 {
        cursor.eobRun -= 1
        while next <= min(scan.spectralEnd, 4) {
          if mask >> UInt64(next) & 1 == 1 {
            refine(next, window, position, blockStart, &coefficients)
            position += 1
          }
          next += 1
        }
        // Skips the correction bits of all further coefficients, none of which is kept.
        let others = mask & (~0 << UInt64(next)) & (~0 >> UInt64(63 - scan.spectralEnd))
        if next <= scan.spectralEnd { position += others.nonzeroBitCount }
      }
      masks[blockStart] = mask | added
      column += 1
    }
    cursor.position = position
    return column
  }

  /// The length of an EOB run, including this block: two to the power of `power`, plus the number that the next `power`
  /// bits encode (G.1.2.2, EOBn).
  @inline(__always)
  private static func eobRunLength(_ bits: UInt64, _ power: Int) -> Int {
    1 << power + (power == 0 ? 0 : Int(bits >> UInt64(64 - power)))
  }

  /// Applies a correction bit to one coefficient: a bit of 1 moves it away from zero.
  @inline(__always)
  private func refine(
    _ next: Int, _ window: RawSpan, _ position: Int, _ blockStart: Int, _ coefficients: inout MutableSpan<Int16>
  ) {
    guard let own = CoefficientStore.slot(of: next), NextBits.word(window, position) >> 63 == 1 else { return }
    let index = blockStart * 4 + own
    let bit = Int16(1) << Int16(scan.approximationLow)
    coefficients[index] = coefficients[index] < 0 ? coefficients[index] &- bit : coefficients[index] &+ bit
  }
}
