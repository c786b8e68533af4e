/// A small PNG file, written without a library: its data is not compressed.
public struct TestPNG {
  public var width = 13
  public var height = 11
  public var colorType: Int
  public var bitDepth: Int
  public var isInterlaced = false
  /// The contents of the chunk tRNS.
  public var transparency: [UInt8]?
  /// Chunks before PLTE, before IDAT and after it.
  public var first: [(type: String, data: [UInt8])] = []
  public var before: [(type: String, data: [UInt8])] = []
  public var after: [(type: String, data: [UInt8])] = []

  /// Every colour type with each of its bit depths.
  public static let kinds = [
    (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8),
    (6, 16),
  ]

  public var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 1 }
  public var isGrey: Bool { colorType == 0 || colorType == 4 }

  public init(width: Int = 13, height: Int = 11, colorType: Int, bitDepth: Int, isInterlaced: Bool = false) {
    (self.width, self.height, self.colorType, self.bitDepth) = (width, height, colorType, bitDepth)
    self.isInterlaced = isInterlaced
  }

  /// A sample as stored. Few values, so that a key occurs.
  public func sample(_ x: Int, _ y: Int, _ channel: Int) -> Int {
    let value = (x * 7 + y * 13 + channel * 29 + x * y * 5) % 11 * 23
    return bitDepth == 16 ? value << 8 | (value * 3 & 0xFF) : value & ((1 << bitDepth) - 1)
  }

  public static func paletteColor(_ index: Int) -> [UInt8] {
    [index * 37, 255 - index, index * 91].map { UInt8($0 & 0xFF) }
  }

  /// Red, green and blue, or grey, and alpha, of 0 to 255.
  public func pixel(_ x: Int, _ y: Int) -> (colors: [Double], alpha: Double) {
    let stored = (0..<channels).map { sample(x, y, $0) }
    if colorType == 3 {
      let alpha = transparency.flatMap { stored[0] < $0.count ? $0[stored[0]] : nil } ?? 255
      return (Self.paletteColor(stored[0]).map(Double.init), Double(alpha))
    }
    let most = Double(1 << bitDepth - 1)
    let values = stored.map { (Double($0) / most * 255).rounded() }
    if colorType & 4 != 0 { return (Array(values.dropLast()), values[channels - 1]) }
    let key = transparency.map { bytes in
      stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    }
    return (values, stored == key ? 0 : 255)
  }

  /// The key that makes the colour of one pixel transparent, or alpha for the first entries of the palette.
  public mutating func makeKeyed() {
    if colorType == 3 {
      transparency = Array([0, 128, 255, 77].prefix(1 << bitDepth))
    } else {
      transparency = (0..<channels).flatMap { channel -> [UInt8] in
        let value = sample(3, 2, channel)
        return [UInt8(value >> 8), UInt8(value & 0xFF)]
      }
    }
  }

  public var bytes: [UInt8] {
    var chunks: [(type: String, data: [UInt8])] = [("IHDR", header)] + first
    if colorType == 3 { chunks.append(("PLTE", (0..<1 << bitDepth).flatMap(Self.paletteColor))) }
    if let transparency { chunks.append(("tRNS", transparency)) }
    chunks += before + [("IDAT", Self.stored(scanlines))] + after + [("IEND", [])]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunks.flatMap { Self.chunk($0.type, $0.data) }
  }

  private var header: [UInt8] {
    Self.number(width) + Self.number(height) + [UInt8(bitDepth), UInt8(colorType), 0, 0, isInterlaced ? 1 : 0]
  }

  /// The passes: where they start and how far their pixels are apart (PNG, 8.1).
  private static let passes = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
  ]

  private var scanlines: [UInt8] {
    var bytes: [UInt8] = []
    for (left, top, right, down) in isInterlaced ? Self.passes : [(0, 0, 1, 1)] where left < width {
      for y in stride(from: top, to: height, by: down) {
        bytes.append(0)  // no filter
        var bits = 0
        var count = 0
        for x in stride(from: left, to: width, by: right) {
          for channel in 0..<channels {
            bits = bits << bitDepth | sample(x, y, channel)
            count += bitDepth
            while count >= 8 {
              count -= 8
              bytes.append(UInt8(bits >> count & 0xFF))
            }
            bits &= 0xFF
          }
        }
        if count > 0 { bytes.append(UInt8(bits << (8 - count) & 0xFF)) }
      }
    }
    return bytes
  }

  public static func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) } }

  public static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    number(data.count) + Array(type.utf8) + data + number(Int(checksum(Array(type.utf8) + data)))
  }

  /// A zlib stream of stored blocks (RFC 1950, RFC 1951).
  public static func stored(_ data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let block = data[start..<min(start + 0xFFFF, data.count)]
      start += block.count
      let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
      bytes += [start == data.count ? 1 : 0, low, high, ~low, ~high] + block
    } while start < data.count
    let (a, b) = data.reduce((1, 0)) { sums, byte in
      let a = (sums.0 + Int(byte)) % 65521
      return (a, (sums.1 + a) % 65521)
    }
    return bytes + number(b << 16 | a)
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 != 0 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
  }
}
