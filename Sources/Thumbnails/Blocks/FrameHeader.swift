/// A picture's frame header (ITU-T T.81, B.2.2), and the positions of each component's blocks.
struct FrameHeader {
  struct Component {
    let id: Int
    let h: Int
    let v: Int
    /// The index of its quantization table (Tq).
    let quantizationTable: Int
    /// The columns and rows of blocks that contain samples of the picture.
    let columns: Int
    let rows: Int
    /// The blocks in a row, and the rows, including blocks that only fill up the last MCU.
    let stride: Int
    let paddedRows: Int
    /// The index of its first block among the blocks of all components.
    let start: Int
  }

  let isProgressive: Bool
  let components: [Component]
  let grid: MCUGrid
  /// The number of blocks of all components.
  let blockCount: Int

  /// Reads the header after its SOF marker and its length.
  ///
  /// - parameter header: the same header as libjpeg has read it. If the two differ, the file is irregular.
  init(
    marker: JPEGMarker, length: Int, _ reader: inout SegmentReader, header: SourceInfo
  ) throws(BlockDecoderError) {
    isProgressive = marker == .sof2
    guard try reader.byte() == 8 else { throw .irregular }
    let (height, width, count) = (try reader.word(), try reader.word(), try reader.byte())
    let sampling = header.sampling
    guard length == 6 + 3 * count, count == sampling.count, isProgressive == header.isProgressive,
      PixelSize(width: width, height: height) == header.pixels
    else { throw .irregular }
    grid = header.grid
    var components: [Component] = []
    var start = 0
    for expected in sampling {
      let (id, factors, table) = (try reader.byte(), try reader.byte(), try reader.byte())
      let (h, v) = (factors >> 4, factors & 15)
      guard (h, v) == expected, (1...4).contains(h), (1...4).contains(v), table < 4,
        !components.contains(where: { $0.id == id })
      else { throw .irregular }
      components.append(
        Component(
          id: id, h: h, v: v, quantizationTable: table, columns: (width * h).ceilingQuotient(8 * grid.hMax),
          rows: (height * v).ceilingQuotient(8 * grid.vMax), stride: grid.across * h, paddedRows: grid.down * v,
          start: start))
      start += grid.across * h * grid.down * v
    }
    self.components = components
    blockCount = start
  }
}
