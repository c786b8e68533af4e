/// A scan's header (ITU-T T.81, B.2.3), and the order its blocks come in.
struct BlockScan {
  /// A component in the scan, by its place in the frame, and its Huffman codes.
  struct Part {
    let component: Int
    let meanCode: Int
    let detailCode: Int
  }

  /// One block of each MCU.
  struct Block {
    /// Which of the scan's components.
    let part: Int
    /// Where the block of the first MCU stands among all blocks, and how far on that of the next MCU and of the next row
    /// of MCUs do.
    let start: Int
    let columnStep: Int
    let rowStep: Int
  }

  let parts: [Part]
  /// The first and the last coefficient, in zigzag order.
  let first: Int
  let last: Int
  /// The bits known before, counted from below, and those known afterwards.
  let high: Int
  let low: Int

  /// Reads the header behind its marker.
  init(_ bytes: inout JPEGBytes, _ frame: BlockFrame) throws(BlockError) {
    let length = try bytes.segmentLength()
    let count = try bytes.byte()
    guard (1...4).contains(count), length == 4 + 2 * count else { throw .irregular }
    var parts: [Part] = []
    for _ in 0..<count {
      let (id, codes) = (try bytes.byte(), try bytes.byte())
      guard let component = frame.components.firstIndex(where: { $0.id == id }), codes >> 4 < 4, codes & 15 < 4,
        !parts.contains(where: { $0.component == component })
      else { throw .irregular }
      parts.append(Part(component: component, meanCode: codes >> 4, detailCode: codes & 15))
    }
    self.parts = parts
    (first, last) = (try bytes.byte(), try bytes.byte())
    let bits = try bytes.byte()
    (high, low) = (bits >> 4, bits & 15)
    guard isLegal(in: frame) else { throw .irregular }
  }

  private func isLegal(in frame: BlockFrame) -> Bool {
    guard frame.isProgressive else { return (first, last, high, low) == (0, 63, 0, 0) }
    guard low <= 13, high == 0 || high == low + 1 else { return false }
    return first == 0 ? last == 0 : parts.count == 1 && first <= last && last <= 63
  }

  /// MCUs across and down.
  func mcus(in frame: BlockFrame) -> (across: Int, down: Int) {
    guard parts.count == 1 else { return (frame.grid.across, frame.grid.down) }
    let component = frame.components[parts[0].component]
    return (component.columns, component.rows)
  }

  /// The blocks of an MCU, in order: one alone where the scan is of one component.
  ///
  /// - throws: `irregular` for more than the ten that are legal.
  func blocks(in frame: BlockFrame) throws(BlockError) -> [Block] {
    if parts.count == 1 {
      let component = frame.components[parts[0].component]
      return [Block(part: 0, start: component.start, columnStep: 1, rowStep: component.stride)]
    }
    var blocks: [Block] = []
    for (index, part) in parts.enumerated() {
      let component = frame.components[part.component]
      for row in 0..<component.v {
        for column in 0..<component.h {
          blocks.append(
            Block(
              part: index, start: component.start + row * component.stride + column, columnStep: component.h,
              rowStep: component.v * component.stride))
        }
      }
    }
    guard blocks.count <= 10 else { throw .irregular }
    return blocks
  }
}
