/// The Huffman tables that a file has defined so far.
struct HuffmanTables {
  /// The tables for DC and for AC coefficients, by table destination (Th).
  private(set) var dc = [HuffmanCode?](repeating: nil, count: 4)
  private(set) var ac = [HuffmanCode?](repeating: nil, count: 4)

  /// Reads a segment of table definitions (ITU-T T.81, B.2.4.2) after its DHT marker and its length.
  mutating func read(length: Int, _ reader: inout SegmentReader) throws(BlockDecoderError) {
    var left = length
    while left > 0 {
      let destination = try reader.byte()
      let counts = try reader.bytes(16)
      let count = counts.reduce(0) { $0 + Int($1) }
      left -= 17 + count
      guard destination & 15 < 4, destination >> 4 < 2, count <= 256, left >= 0 else { throw .irregular }
      guard let code = HuffmanCode(counts: counts, symbols: try reader.bytes(count)) else { throw .irregular }
      if destination >> 4 == 0 { dc[destination] = code } else { ac[destination & 15] = code }
    }
  }
}
