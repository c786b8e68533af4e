/// The kept coefficients of each block, which are converted to samples in place.
///
/// The lowest `side` × `side` coefficients of each block are kept: DC alone at scale 1/8, DC and three AC coefficients
/// at 1/4. A refinement scan of a progressive file has a correction bit for every AC coefficient that is not zero,
/// including those that are not kept. So if such scans will be decoded, a mask records which coefficients of a block are
/// not zero.
struct CoefficientStore {
  /// The zigzag indices of the coefficients kept.
  static let zigzagIndices = [0, 1, 2, 4]

  /// The index of a coefficient among a block's four kept ones; nil for coefficients that are not kept.
  @inline(__always)
  static func slot(of zigzagIndex: Int) -> Int? { zigzagIndex <= 4 && zigzagIndex != 3 ? min(zigzagIndex, 3) : nil }

  /// For the number of coefficients that a block has passed, the place of the last one among the four kept; 0, the
  /// place of the DC coefficient, if that one is not kept. Four symbols pass at most 64 coefficients each.
  static let places: [UInt8] = (0...1 + 4 * 64).map { UInt8(slot(of: max($0 - 1, 0)) ?? 0) }

  /// The samples of a block along each axis: 1 or 2.
  let side: Int
  /// The number of coefficients kept of each block.
  var coefficientsPerBlock: Int { side * side }
  /// The coefficients of all blocks.
  let coefficients: UnsafeMutableBufferPointer<Int16>
  /// One mask for each block: bit k is set once AC coefficient k, in zigzag order, is not zero. Empty before
  /// ``keepMasks(_:in:)``.
  private(set) var nonZeroMasks = UnsafeMutableBufferPointer<UInt64>(start: nil, count: 0)

  /// Reserves zeroed memory for a picture in the buffer.
  init(_ frame: FrameHeader, side: Int, in buffer: PlaneBuffer) throws(BlockDecoderError) {
    self.side = side
    coefficients = try Self.room(frame.blockCount * side * side, in: buffer)
  }

  /// Keeps masks from now on. If AC refinement scans of a component will be decoded, call it before its first AC scan.
  mutating func keepMasks(_ frame: FrameHeader, in buffer: PlaneBuffer) throws(BlockDecoderError) {
    guard nonZeroMasks.isEmpty else { return }
    nonZeroMasks = try Self.room(frame.blockCount, in: buffer)
  }

  /// The most memory for one block, in bytes.
  static func bytesPerBlock(isProgressive: Bool, side: Int) -> (coefficients: Int, masks: Int) {
    (
      side * side * MemoryLayout<Int16>.stride,
      isProgressive && side > 1 ? MemoryLayout<UInt64>.stride : 0
    )
  }

  private static func room<Element: FixedWidthInteger>(
    _ count: Int, in buffer: PlaneBuffer
  ) throws(BlockDecoderError) -> UnsafeMutableBufferPointer<Element> {
    guard count > 0 else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
    let size = count * MemoryLayout<Element>.stride
    do {
      let view = try buffer.plane(columns: size, rows: 1, stride: size, paddedRows: 1)
      let room = UnsafeMutableRawBufferPointer(start: view.base, count: size).bindMemory(to: Element.self)
      room.initialize(repeating: 0)
      return room
    } catch {
      throw .failed(error)
    }
  }

  /// Converts the coefficients to samples in place: a row of blocks becomes `side` rows of samples.
  ///
  /// - parameters:
  ///   - steps: the quantization steps of the coefficients kept, for each component.
  ///   - proceed: called before each row of blocks.
  /// - throws: the errors of `proceed`.
  func planes(
    _ frame: FrameHeader, steps: [[Int]], pixels: PixelSize, proceed: () throws(BlockDecoderError) -> Void
  ) throws(BlockDecoderError) -> [DecodedPlane] {
    let (unitWidth, unitHeight) = (8 * frame.grid.hMax, 8 * frame.grid.vMax)
    guard let start = UnsafeMutableRawPointer(coefficients.baseAddress) else { throw .irregular }
    var planes: [DecodedPlane] = []
    for (component, steps) in zip(frame.components, steps) {
      let steps = steps.map { Int32($0) }
      let rowSize = component.stride * coefficientsPerBlock * MemoryLayout<Int16>.stride
      let first = start + component.start * coefficientsPerBlock * MemoryLayout<Int16>.stride
      var lower = [UInt8](repeating: 0, count: component.stride * side)
      for row in 0..<component.rows {
        try proceed()
        let blocks = first + row * rowSize
        if side == 1 {
          Self.makeSample(of: blocks, component.columns, steps[0])
        } else {
          Self.makeTwoByTwo(of: blocks, component.columns, steps, &lower)
          // The lower samples overwrite coefficients, so they are stored after all of the row's blocks have been read.
          (blocks + rowSize / 2).copyMemory(from: lower, byteCount: lower.count)
        }
      }
      let (across, down) = (pixels.width * component.h * side, pixels.height * component.v * side)
      let view = PlaneView(
        base: first.assumingMemoryBound(to: UInt8.self), columns: across.ceilingQuotient(unitWidth),
        rows: down.ceilingQuotient(unitHeight), stride: rowSize / side)
      planes.append(
        DecodedPlane(
          view: view, columnsExact: Double(across) / Double(unitWidth), rowsExact: Double(down) / Double(unitHeight)))
    }
    return planes
  }

  // Samples take less memory than their coefficients, so no sample overwrites a coefficient that has not been read yet.
  // Accesses are raw because the same bytes hold first coefficients and then samples.

  /// Makes one sample of each block. libjpeg looks the sample up in a table of 1024 entries, in which values beyond
  /// those of a legal file wrap around. They wrap around here too.
  private static func makeSample(of blocks: UnsafeMutableRawPointer, _ count: Int, _ step: Int32) {
    for column in 0..<count {
      let value = Int32(blocks.load(fromByteOffset: 2 * column, as: Int16.self)) &* step
      let wrapped = (((value &+ 4) >> 3) << 22) >> 22
      blocks.storeBytes(
        of: UInt8(truncatingIfNeeded: min(max(wrapped &+ 128, 0), 255)), toByteOffset: column, as: UInt8.self)
    }
  }

  /// Makes two by two samples of each block, and writes the lower two into `lower`. They are the inverse transform of
  /// the four lowest coefficients, which preserves more visible detail than the mean of 4 × 4 samples that libjpeg
  /// makes at this scale (jidctred.c).
  private static func makeTwoByTwo(
    of blocks: UnsafeMutableRawPointer, _ count: Int, _ steps: [Int32], _ lower: inout [UInt8]
  ) {
    let steps = SIMD4(steps[0], steps[1], steps[2], steps[3])
    lower.withUnsafeMutableBytes { lower in
      var column = 0
      // Four blocks at once.
      while column + 4 <= count {
        let coefficients = blocks.loadUnaligned(fromByteOffset: 8 * column, as: SIMD16<Int16>.self)
        let (upperTwo, lowerTwo) = twoByTwo(coefficients, steps)
        blocks.storeBytes(of: upperTwo, toByteOffset: 2 * column, as: SIMD8<UInt8>.self)
        lower.storeBytes(of: lowerTwo, toByteOffset: 2 * column, as: SIMD8<UInt8>.self)
        column += 4
      }
      while column < count {
        var coefficients = SIMD16<Int16>()
        for index in 0..<4 {
          coefficients[index] = blocks.load(fromByteOffset: 8 * column + 2 * index, as: Int16.self)
        }
        let (upperTwo, lowerTwo) = twoByTwo(coefficients, steps)
        for index in 0..<2 {
          blocks.storeBytes(of: upperTwo[index], toByteOffset: 2 * column + index, as: UInt8.self)
          lower[2 * column + index] = lowerTwo[index]
        }
        column += 1
      }
    }
  }

  /// The samples of four blocks, from the four coefficients of each one.
  @inline(__always)
  private static func twoByTwo(
    _ coefficients: SIMD16<Int16>, _ steps: SIMD4<Int32>
  ) -> (upper: SIMD8<UInt8>, lower: SIMD8<UInt8>) {
    let (even, odd) = (coefficients.evenHalf, coefficients.oddHalf)
    let c0 = SIMD4<Int32>(truncatingIfNeeded: even.evenHalf) &* steps[0]
    let c1 = SIMD4<Int32>(truncatingIfNeeded: odd.evenHalf) &* steps[1]
    let c2 = SIMD4<Int32>(truncatingIfNeeded: even.oddHalf) &* steps[2]
    let c3 = SIMD4<Int32>(truncatingIfNeeded: odd.oddHalf) &* steps[3]
    let (sum, difference) = (c0 &+ c2, c0 &- c2)
    let (otherSum, otherDifference) = (c1 &+ c3, c1 &- c3)
    return (
      samples(sum &+ otherSum, sum &- otherSum),
      samples(difference &+ otherDifference, difference &- otherDifference)
    )
  }

  /// The samples for values of eight times the samples less 128, of which the even and the odd ones are given.
  @inline(__always)
  private static func samples(_ even: SIMD4<Int32>, _ odd: SIMD4<Int32>) -> SIMD8<UInt8> {
    var values = SIMD8<Int32>()
    (values.evenHalf, values.oddHalf) = (even, odd)
    let shifted = (values &+ 4) &>> 3 &+ 128
    return SIMD8<UInt8>(
      truncatingIfNeeded: shifted.clamped(lowerBound: SIMD8(repeating: 0), upperBound: SIMD8(repeating: 255)))
  }
}
