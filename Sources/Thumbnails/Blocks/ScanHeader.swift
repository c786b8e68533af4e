/// A scan header (ITU-T T.81, B.2.3), and the order of the scan's blocks.
struct ScanHeader {
  /// A component of the scan: its index in the frame, and the indices of its Huffman tables (Td, Ta).
  struct Component {
    let index: Int
    let dcTable: Int
    let acTable: Int
  }

  /// A block that each MCU contains once.
  struct Block {
    /// The index of its component in the scan.
    let component: Int
    /// The index among all blocks that it has in the first MCU, and the distances from there to the same block of the
    /// next MCU and of the next row of MCUs.
    let start: Int
    let columnStep: Int
    let rowStep: Int
  }

  let components: [Component]
  /// Start and end of spectral selection (Ss, Se): the first and the last coefficient, in zigzag order.
  let spectralStart: Int
  let spectralEnd: Int
  /// Successive approximation bit positions (Ah, Al): the lowest bit known before the scan, which is 0 for the first
  /// scan of a band, and the lowest bit known after it.
  let approximationHigh: Int
  let approximationLow: Int

  /// Reads the header after its SOS marker and its length.
  init(length: Int, _ reader: inout SegmentReader, _ frame: FrameHeader) throws(BlockDecoderError) {
    let count = try reader.byte()
    guard (1...4).contains(count), length == 4 + 2 * count else { throw .irregular }
    var components: [Component] = []
    for _ in 0..<count {
      let (id, tables) = (try reader.byte(), try reader.byte())
      guard let component = frame.components.firstIndex(where: { $0.id == id }), tables >> 4 < 4, tables & 15 < 4,
        !components.contains(where: { $0.index == component })
      else { throw .irregular }
      components.append(Component(index: component, dcTable: tables >> 4, acTable: tables & 15))
    }
    self.components = components
    (spectralStart, spectralEnd) = (try reader.byte(), try reader.byte())
    let bits = try reader.byte()
    (approximationHigh, approximationLow) = (bits >> 4, bits & 15)
    guard isLegal(in: frame) else { throw .irregular }
  }

  private func isLegal(in frame: FrameHeader) -> Bool {
    guard frame.isProgressive else {
      return (spectralStart, spectralEnd, approximationHigh, approximationLow) == (0, 63, 0, 0)
    }
    guard approximationLow <= 13, approximationHigh == 0 || approximationHigh == approximationLow + 1 else {
      return false
    }
    return spectralStart == 0
      ? spectralEnd == 0 : components.count == 1 && spectralStart <= spectralEnd && spectralEnd <= 63
  }

  /// MCUs across and down.
  func mcus(in frame: FrameHeader) -> (across: Int, down: Int) {
    guard components.count == 1 else { return (frame.grid.across, frame.grid.down) }
    let component = frame.components[components[0].index]
    return (component.columns, component.rows)
  }

  /// The blocks of an MCU, in order. In a scan of one component, an MCU is one block.
  ///
  /// - throws: `irregular` for more than ten blocks, which is the legal maximum.
  func blocks(in frame: FrameHeader) throws(BlockDecoderError) -> [Block] {
    if components.count == 1 {
      let component = frame.components[components[0].index]
      return [Block(component: 0, start: component.start, columnStep: 1, rowStep: component.stride)]
    }
    var blocks: [Block] = []
    for (place, own) in components.enumerated() {
      let component = frame.components[own.index]
      for row in 0..<component.v {
        for column in 0..<component.h {
          blocks.append(
            Block(
              component: place, start: component.start + row * component.stride + column, columnStep: component.h,
              rowStep: component.v * component.stride))
        }
      }
    }
    guard blocks.count <= 10 else { throw .irregular }
    return blocks
  }
}
