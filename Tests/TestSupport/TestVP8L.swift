/// A lossless WebP file, written without a library, in which each block of 4 × 4 pixels has one colour, and a group of
/// Huffman codes of its own.
///
/// *Source*: RFC 9649, 3.4 to 3.8.
public struct TestVP8L: Sendable {
  /// The blocks in a row, and the rows of blocks; each at most 256.
  public var columns: Int
  public var rows: Int
  /// The binary logarithm of the size of the colour cache; 0 if there is none.
  public var cacheBits: Int
  /// Whether a group has codes of 8 bits for all values, which take memory. Otherwise it has codes of one value, which take
  /// no bits.
  public var hasAllValues: Bool

  public init(columns: Int, rows: Int, cacheBits: Int = 0, hasAllValues: Bool = false) {
    (self.columns, self.rows, self.cacheBits, self.hasAllValues) = (columns, rows, cacheBits, hasAllValues)
  }

  /// The red, green and blue of a block.
  public func color(_ column: Int, _ row: Int) -> [UInt8] { [UInt8(column), UInt8(row), 90] }

  public var bytes: [UInt8] {
    let data = chunk
    let body = Array("WEBPVP8L".utf8) + number(data.count) + data
    return Array("RIFF".utf8) + number(body.count) + body
  }

  private func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }

  private var chunk: [UInt8] {
    var bits = Bits()
    bits.add(0x2F, 8)
    bits.add(4 * columns - 1, 14)
    bits.add(4 * rows - 1, 14)
    // No alpha, version 0, no transforms.
    bits.add(0, 1 + 3 + 1)
    bits.add(cacheBits > 0 ? 1 : 0, 1)
    if cacheBits > 0 { bits.add(cacheBits, 4) }
    // There are several groups, for blocks of 4 × 4 pixels.
    bits.add(1, 1)
    bits.add(0, 3)
    addGroupNumbers(to: &bits)
    for row in 0..<rows {
      for column in 0..<columns {
        guard !hasAllValues else {
          bits.addBytes(further: 24 + (cacheBits > 0 ? 1 << cacheBits : 0))
          for _ in 0..<3 { bits.addBytes(further: 0) }
          bits.addOnlySymbol(0)
          continue
        }
        for symbol in symbols(column, row) + [0] { bits.addOnlySymbol(symbol) }
      }
    }
    for row in hasAllValues ? 0..<4 * rows : 0..<0 {
      for column in 0..<4 * columns {
        for symbol in symbols(column / 4, row / 4) { bits.addReversed(symbol) }
      }
    }
    return bits.bytes + [UInt8](repeating: 0, count: 8)
  }

  /// Green, red, blue and alpha of a block.
  private func symbols(_ column: Int, _ row: Int) -> [Int] {
    let color = color(column, row)
    return [Int(color[1]), Int(color[0]), Int(color[2]), 255]
  }

  /// An image whose pixels say, in red and green, which group a block has.
  private func addGroupNumbers(to bits: inout Bits) {
    bits.add(0, 1)
    bits.addBytes(further: 24)
    bits.addBytes(further: 0)
    for _ in 0..<3 { bits.addOnlySymbol(0) }
    for group in 0..<columns * rows {
      bits.addReversed(group & 255)
      bits.addReversed(group >> 8)
    }
  }

  private struct Bits {
    private(set) var bytes: [UInt8] = []
    private var count = 0

    mutating func add(_ value: Int, _ width: Int) {
      for bit in 0..<width {
        if count % 8 == 0 { bytes.append(0) }
        if value >> bit & 1 != 0 { bytes[count / 8] |= 1 << (count % 8) }
        count += 1
      }
    }

    /// A code of 8 bits, which begins with the highest.
    mutating func addReversed(_ value: Int) { for bit in (0..<8).reversed() { add(value >> bit & 1, 1) } }

    /// A Huffman code that has one symbol, and so needs no bits.
    mutating func addOnlySymbol(_ symbol: Int) {
      add(0b101, 3)
      add(symbol, 8)
    }

    /// A Huffman code of 8 bits for each of 256 symbols, and none for so many further ones.
    mutating func addBytes(further: Int) {
      add(0, 1)
      // The lengths 0 and 8 are coded with one bit; they are third and twelfth in the order of lengths.
      add(12 - 4, 4)
      for place in 0..<12 { add(place == 2 || place == 11 ? 1 : 0, 3) }
      add(0, 1)
      for _ in 0..<256 { add(1, 1) }
      for _ in 0..<further { add(0, 1) }
    }
  }
}
