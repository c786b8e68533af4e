/// The coefficients that are kept of a picture's blocks, and what becomes of them: samples.
///
/// Of each block the lowest `side` × `side` frequencies: its mean, at scale 1/8; or that and the three next to it, at 1/4.
/// A progressive file's detail can only be read by knowing which of a block's other coefficients are not zero: that is
/// kept too, a bit for each.
struct CoefficientStore {
  /// Places of the coefficients kept, in zigzag order.
  static let zigzagIndices = [0, 1, 2, 4]

  /// Where among a block's four the coefficient of a place is kept; nil for those that are not.
  @inline(__always)
  static func slot(of zigzagIndex: Int) -> Int? { zigzagIndex <= 4 && zigzagIndex != 3 ? min(zigzagIndex, 3) : nil }

  /// Samples of a block along each axis: 1 or 2.
  let side: Int
  /// Coefficients kept of a block, one behind the other.
  var coefficientsPerBlock: Int { side * side }
  /// Of all blocks.
  let coefficients: UnsafeMutableBufferPointer<Int16>
  /// A word for each block: bit k is set once coefficient k is not zero. Nothing where that is not needed.
  let nonZeroMasks: UnsafeMutableBufferPointer<UInt64>

  /// Room for a picture, cleared: nothing of the one before is left.
  init(
    _ frame: FrameHeader, side: Int, in buffer: PlaneBuffer, masksIn maskBuffer: PlaneBuffer
  ) throws(BlockDecoderError) {
    self.side = side
    coefficients = try Self.room(frame.blockCount * side * side, in: buffer)
    nonZeroMasks = try Self.room(
      Self.needsMasks(frame.isProgressive, side: side) ? frame.blockCount : 0, in: maskBuffer)
  }

  /// Bytes for each block.
  static func bytesPerBlock(isProgressive: Bool, side: Int) -> (coefficients: Int, masks: Int) {
    (
      side * side * MemoryLayout<Int16>.stride,
      needsMasks(isProgressive, side: side) ? MemoryLayout<UInt64>.stride : 0
    )
  }

  private static func needsMasks(_ isProgressive: Bool, side: Int) -> Bool { isProgressive && side > 1 }

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

  /// Makes samples of the coefficients, in their place: a row of blocks becomes `side` rows of samples.
  ///
  /// - parameters:
  ///   - steps: for each component, what a step of each coefficient kept is worth.
  ///   - proceed: asked before each row of blocks.
  /// - throws: what `proceed` does.
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
          // Not before all of the row's blocks have been read.
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

  // A row's samples trail its coefficients: none is written where a coefficient is still to be read. Raw accesses, since
  // the same bytes are numbers of two types.

  /// One sample of each block, as libjpeg takes it from a table of 1024 entries: beyond what a legal file holds that
  /// wraps around, and so it does here.
  private static func makeSample(of blocks: UnsafeMutableRawPointer, _ count: Int, _ step: Int32) {
    for column in 0..<count {
      let value = Int32(blocks.load(fromByteOffset: 2 * column, as: Int16.self)) &* step
      let wrapped = (((value &+ 4) >> 3) << 22) >> 22
      blocks.storeBytes(
        of: UInt8(truncatingIfNeeded: min(max(wrapped &+ 128, 0), 255)), toByteOffset: column, as: UInt8.self)
    }
  }

  /// Two by two samples of each block, the lower ones aside: the inverse transform of its four lowest frequencies alone,
  /// which keeps more of what a thumbnail shows than the mean of 4 × 4 samples does that libjpeg makes at this scale
  /// (jidctred.c).
  private static func makeTwoByTwo(
    of blocks: UnsafeMutableRawPointer, _ count: Int, _ steps: [Int32], _ lower: inout [UInt8]
  ) {
    let (s0, s1, s2, s3) = (steps[0], steps[1], steps[2], steps[3])
    lower.withUnsafeMutableBufferPointer { lower in
      for column in 0..<count {
        let block = blocks + 8 * column
        let c0 = Int32(block.load(as: Int16.self)) &* s0
        let c1 = Int32(block.load(fromByteOffset: 2, as: Int16.self)) &* s1
        let c2 = Int32(block.load(fromByteOffset: 4, as: Int16.self)) &* s2
        let c3 = Int32(block.load(fromByteOffset: 6, as: Int16.self)) &* s3
        blocks.storeBytes(of: sample(c0 &+ c1 &+ c2 &+ c3), toByteOffset: 2 * column, as: UInt8.self)
        blocks.storeBytes(of: sample(c0 &- c1 &+ c2 &- c3), toByteOffset: 2 * column + 1, as: UInt8.self)
        lower[2 * column] = sample(c0 &+ c1 &- c2 &- c3)
        lower[2 * column + 1] = sample(c0 &- c1 &- c2 &+ c3)
      }
    }
  }

  /// A sample of eight times its value.
  @inline(__always)
  private static func sample(_ value: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: min(max((value &+ 4) >> 3 &+ 128, 0), 255))
  }
}
