/// The Huffman codes that a file has defined so far.
struct BlockCodes {
  /// For means, and for detail.
  private(set) var means = [HuffmanCode?](repeating: nil, count: 4)
  private(set) var detail = [HuffmanCode?](repeating: nil, count: 4)

  /// Reads a segment of definitions (ITU-T T.81, B.2.4.2) behind its marker.
  mutating func read(_ bytes: inout JPEGBytes) throws(BlockError) {
    var left = try bytes.segmentLength()
    while left > 0 {
      let place = try bytes.byte()
      var counts: [Int] = []
      for _ in 0..<16 { counts.append(try bytes.byte()) }
      let count = counts.reduce(0, +)
      left -= 17 + count
      guard place & 15 < 4, place >> 4 < 2, count <= 256, left >= 0 else { throw .irregular }
      var symbols: [UInt8] = []
      for _ in 0..<count { symbols.append(UInt8(try bytes.byte())) }
      guard let code = HuffmanCode(counts: counts, symbols: symbols) else { throw .irregular }
      if place >> 4 == 0 { means[place] = code } else { detail[place & 15] = code }
    }
  }
}
