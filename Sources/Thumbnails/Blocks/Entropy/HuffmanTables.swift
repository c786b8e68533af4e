/// The Huffman tables that a file has defined so far.
struct HuffmanTables {
  /// The tables for DC and for AC coefficients, by table destination (Th).
  private(set) var dc = [HuffmanCode?](repeating: nil, count: 4)
  private(set) var ac = [HuffmanCode?](repeating: nil, count: 4)

  /// Reads a segment of table definitions (ITU-T T.81, B.2.4.2) after its DHT marker.
  mutating func read(_ reader: inout SegmentReader) throws(BlockDecoderError) {
    var left = try reader.segmentLength()
    while left > 0 {
      let destination = try reader.byte()
      var counts: [Int] = []
      for _ in 0..<16 { counts.append(try reader.byte()) }
      let count = counts.reduce(0, +)
      left -= 17 + count
      guard destination & 15 < 4, destination >> 4 < 2, count <= 256, left >= 0 else { throw .irregular }
      var symbols: [UInt8] = []
      for _ in 0..<count { symbols.append(UInt8(try reader.byte())) }
      guard let code = HuffmanCode(counts: counts, symbols: symbols) else { throw .irregular }
      if destination >> 4 == 0 { dc[destination] = code } else { ac[destination & 15] = code }
    }
  }
}
