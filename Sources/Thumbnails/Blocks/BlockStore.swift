/// The coefficients that are kept of a picture's blocks, and what becomes of them: samples.
///
/// Of each block the lowest `side` × `side` frequencies: its mean, at scale 1/8; or that and the three next to it, at 1/4.
/// A progressive file's detail can only be read by knowing which of a block's other coefficients are not zero: that is
/// kept too, a bit for each.
struct BlockStore {
  /// Places of the coefficients kept, in zigzag order.
  static let places = [0, 1, 2, 4]

  /// Samples of a block along each axis: 1 or 2.
  let side: Int
  /// Coefficients kept of a block, one behind the other.
  var kept: Int { side * side }
  /// Of all blocks.
  let coefficients: UnsafeMutableBufferPointer<Int16>
  /// A word for each block: bit k is set once coefficient k is not zero. Nothing where that is not needed.
  let marks: UnsafeMutableBufferPointer<UInt64>

  /// Room for a picture, cleared: nothing of the one before is left.
  init(
    _ frame: BlockFrame, side: Int, in buffer: PlaneBuffer, marksIn marksBuffer: PlaneBuffer
  ) throws(BlockError) {
    self.side = side
    coefficients = try Self.room(frame.blockCount * side * side, in: buffer)
    marks = try Self.room(Self.needsMarks(frame.isProgressive, side: side) ? frame.blockCount : 0, in: marksBuffer)
  }

  /// Bytes for each block.
  static func bytesPerBlock(isProgressive: Bool, side: Int) -> Int {
    side * side * MemoryLayout<Int16>.stride
      + (needsMarks(isProgressive, side: side) ? MemoryLayout<UInt64>.stride : 0)
  }

  private static func needsMarks(_ isProgressive: Bool, side: Int) -> Bool { isProgressive && side > 1 }

  private static func room<Element: FixedWidthInteger>(
    _ count: Int, in buffer: PlaneBuffer
  ) throws(BlockError) -> UnsafeMutableBufferPointer<Element> {
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

  /// Makes samples of the coefficients, in their place: rows of samples lie where a row of blocks has been.
  ///
  /// - parameter steps: for each component, what a step of each coefficient kept is worth.
  func planes(_ frame: BlockFrame, steps: [[Int]], pixels: PixelSize) -> [DecodedPlane] {
    let hMax = frame.components.map(\.h).max() ?? 1
    let vMax = frame.components.map(\.v).max() ?? 1
    return frame.components.indices.map { index in
      let component = frame.components[index]
      let blocks = component.stride * component.paddedRows
      let own = UnsafeMutableBufferPointer(
        rebasing: coefficients[component.start * kept..<(component.start + blocks) * kept])
      let samples = UnsafeMutableRawBufferPointer(own).bindMemory(to: UInt8.self)
      let width = component.stride * kept
      var lower = [UInt8](repeating: 0, count: side > 1 ? component.stride * side : 0)
      for row in 0..<component.rows {
        let blockRow = UnsafeMutableBufferPointer(rebasing: own[row * width..<(row + 1) * width])
        let target = UnsafeMutableBufferPointer(rebasing: samples[row * width * 2..<(row + 1) * width * 2])
        if side == 1 {
          Self.means(blockRow, steps[index][0], component.columns, into: target)
        } else {
          Self.quarters(blockRow, steps[index], component.columns, into: target, &lower)
        }
      }
      let (across, down) = (pixels.width * component.h * side, pixels.height * component.v * side)
      let view = PlaneView(
        base: samples.baseAddress!, columns: (across + 8 * hMax - 1) / (8 * hMax),
        rows: (down + 8 * vMax - 1) / (8 * vMax), stride: 2 * component.stride * side)
      return DecodedPlane(
        view: view, columnsExact: Double(across) / Double(8 * hMax), rowsExact: Double(down) / Double(8 * vMax))
    }
  }

  /// One sample of each block, as libjpeg takes it from a table of 1024 entries: beyond what a legal file holds that
  /// wraps around, and so it does here.
  private static func means(
    _ blocks: UnsafeMutableBufferPointer<Int16>, _ step: Int, _ count: Int, into row: UnsafeMutableBufferPointer<UInt8>
  ) {
    let step = Int32(step)
    for column in 0..<count {
      let wrapped = (((Int32(blocks[column]) &* step &+ 4) >> 3) << 22) >> 22
      row[column] = UInt8(truncatingIfNeeded: min(max(wrapped &+ 128, 0), 255))
    }
  }

  /// Two by two samples of each block: the inverse transform of its four lowest frequencies alone, which keeps more of
  /// what a thumbnail shows than the mean of 4 × 4 samples does that libjpeg makes at this scale (jidctred.c).
  private static func quarters(
    _ blocks: UnsafeMutableBufferPointer<Int16>, _ steps: [Int], _ count: Int,
    into rows: UnsafeMutableBufferPointer<UInt8>, _ lower: inout [UInt8]
  ) {
    let (s0, s1, s2, s3) = (Int32(steps[0]), Int32(steps[1]), Int32(steps[2]), Int32(steps[3]))
    lower.withUnsafeMutableBufferPointer { lower in
      for column in 0..<count {
        let (c0, c1) = (Int32(blocks[4 * column]) &* s0, Int32(blocks[4 * column + 1]) &* s1)
        let (c2, c3) = (Int32(blocks[4 * column + 2]) &* s2, Int32(blocks[4 * column + 3]) &* s3)
        rows[2 * column] = sample(c0 &+ c1 &+ c2 &+ c3)
        rows[2 * column + 1] = sample(c0 &- c1 &+ c2 &- c3)
        lower[2 * column] = sample(c0 &+ c1 &- c2 &- c3)
        lower[2 * column + 1] = sample(c0 &- c1 &- c2 &+ c3)
      }
      // Behind what is still to be read while the upper row is made.
      for column in 0..<2 * count { rows[rows.count / 2 + column] = lower[column] }
    }
  }

  /// A sample of eight times its value.
  @inline(__always)
  private static func sample(_ value: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: min(max((value &+ 4) >> 3 &+ 128, 0), 255))
  }
}
