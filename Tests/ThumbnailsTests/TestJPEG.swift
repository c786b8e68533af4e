import Foundation

@testable import Thumbnails

/// A JPEG of a kind that `JPEGEncoder` does not make: with any sampling factors, any number of components, restart
/// intervals, or a scan for each component. It is baseline with quantization steps of 1, so samples hardly change.
///
/// The Huffman codes of a table all have the same length, which is legal and simple to write.
struct TestJPEG {
  struct Component {
    var id: UInt8 = 0
    var h = 1
    var v = 1
  }

  var width: Int
  var height: Int
  var components: [Component]
  var isInterleaved = true
  var restartInterval = 0
  /// Whole marker segments that follow SOI, each with its marker and length.
  var segments: [[UInt8]] = []
  /// A component's value at a point of the picture, in pixels from its upper left corner.
  var value: (_ component: Int, _ x: Double, _ y: Double) -> Double

  /// YCbCr with luma at (h, v) and both chroma components at (chromaH, chromaV).
  static func ycc(
    _ width: Int, _ height: Int, h: Int = 1, v: Int = 1, chromaH: Int = 1, chromaV: Int = 1,
    value: @escaping (Int, Double, Double) -> Double
  ) -> TestJPEG {
    let components = [
      Component(id: 1, h: h, v: v), Component(id: 2, h: chromaH, v: chromaV), Component(id: 3, h: chromaH, v: chromaV),
    ]
    return TestJPEG(width: width, height: height, components: components, segments: [jfif], value: value)
  }

  static func grey(_ width: Int, _ height: Int, value: @escaping (Double, Double) -> Double) -> TestJPEG {
    TestJPEG(width: width, height: height, components: [Component(id: 1)], segments: [jfif]) { value($1, $2) }
  }

  static let jfif = segment(.app0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])

  /// Adobe's APP14: transform 0 is RGB or CMYK, 1 YCbCr, 2 YCCK.
  static func adobe(transform: UInt8) -> [UInt8] {
    segment(.app14, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
  }

  static func segment(_ marker: JPEGMarker, _ payload: [UInt8]) -> [UInt8] {
    marker.bytes + [UInt8((payload.count + 2) >> 8), UInt8((payload.count + 2) & 255)] + payload
  }

  /// The file.
  func bytes() -> [UInt8] {
    var file: [UInt8] = JPEGMarker.soi.bytes + segments.flatMap { $0 }
    file += Self.segment(.dqt, [0] + [UInt8](repeating: 1, count: 64))
    var frame: [UInt8] = [8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
    frame.append(UInt8(components.count))
    for component in components { frame += [component.id, UInt8(component.h << 4 | component.v), 0] }
    file += Self.segment(.sof0, frame)
    var counts = [UInt8](repeating: 0, count: 16)
    counts[3] = 12  // DC: twelve codes of four bits
    file += Self.segment(.dht, [0x00] + counts + (0..<12).map { UInt8($0) })
    counts[3] = 0
    counts[7] = UInt8(Self.acSymbols.count)  // AC: codes of eight bits
    file += Self.segment(.dht, [0x10] + counts + Self.acSymbols)
    if restartInterval > 0 {
      file += Self.segment(.dri, [UInt8(restartInterval >> 8), UInt8(restartInterval & 255)])
    }
    let scans: [[Int]] = isInterleaved ? [Array(components.indices)] : components.indices.map { [$0] }
    for scan in scans { file += self.scan(scan) }
    return file + JPEGMarker.eoi.bytes
  }

  private static let acSymbols: [UInt8] = {
    var symbols: [UInt8] = [0x00, 0xF0]
    for run in 0...15 {
      for size in 1...10 { symbols.append(UInt8(run << 4 | size)) }
    }
    return symbols
  }()
  private static let acCodes = Dictionary(uniqueKeysWithValues: zip(acSymbols, acSymbols.indices))

  private var hMax: Int { components.map(\.h).max() ?? 1 }
  private var vMax: Int { components.map(\.v).max() ?? 1 }

  private func scan(_ indices: [Int]) -> [UInt8] {
    var header = [UInt8(indices.count)]
    for index in indices { header += [components[index].id, 0] }
    header += [0, 63, 0]
    var bits = BitWriter()
    var predictors = [Int](repeating: 0, count: components.count)
    var mcuCount = 0
    let alone = indices.count == 1 ? components[indices[0]] : nil
    let across = alone.map { Self.blocks(width, $0.h, hMax) } ?? Self.quotient(width, 8 * hMax)
    let down = alone.map { Self.blocks(height, $0.v, vMax) } ?? Self.quotient(height, 8 * vMax)
    for row in 0..<down {
      for column in 0..<across {
        if restartInterval > 0, mcuCount > 0, mcuCount % restartInterval == 0 {
          bits.restart(mcuCount / restartInterval - 1)
          predictors = predictors.map { _ in 0 }
        }
        mcuCount += 1
        for index in indices {
          let (h, v) = alone == nil ? (components[index].h, components[index].v) : (1, 1)
          for block in 0..<h * v {
            let coefficients = transform(index, column: column * h + block % h, row: row * v + block / h)
            encode(coefficients, &predictors[index], &bits)
          }
        }
      }
    }
    return Self.segment(.sos, header) + bits.finish()
  }

  private static func quotient(_ dividend: Int, _ divisor: Int) -> Int { (dividend + divisor - 1) / divisor }

  private static func blocks(_ side: Int, _ factor: Int, _ most: Int) -> Int {
    quotient(quotient(side * factor, most), 8)
  }

  private static let cosines: [[Double]] = (0..<8).map { frequency in
    let scale: Double = frequency == 0 ? 0.125.squareRoot() : 0.5
    return (0..<8).map { (position: Int) -> Double in
      let angle: Double = Double(2 * position + 1) * Double(frequency) * Double.pi / 16
      return cos(angle) * scale
    }
  }

  /// A block's coefficients, row by row.
  private func transform(_ index: Int, column: Int, row: Int) -> [Int] {
    let stepX = Double(hMax) / Double(components[index].h)
    let stepY = Double(vMax) / Double(components[index].v)
    var samples = [Double](repeating: 0, count: 64)
    for y in 0..<8 {
      for x in 0..<8 {
        // Beyond the picture's edge, its last point is repeated.
        let pointX = min((Double(column * 8 + x) + 0.5) * stepX, Double(width) - 0.01)
        let pointY = min((Double(row * 8 + y) + 0.5) * stepY, Double(height) - 0.01)
        samples[y * 8 + x] = min(max(value(index, pointX, pointY).rounded(), 0), 255) - 128
      }
    }
    var half = [Double](repeating: 0, count: 64)
    var result = [Int](repeating: 0, count: 64)
    for y in 0..<8 {
      for u in 0..<8 {
        var sum = 0.0
        for x in 0..<8 { sum += samples[y * 8 + x] * Self.cosines[u][x] }
        half[y * 8 + u] = sum
      }
    }
    for v in 0..<8 {
      for u in 0..<8 {
        var sum = 0.0
        for y in 0..<8 { sum += half[y * 8 + u] * Self.cosines[v][y] }
        result[v * 8 + u] = Int(sum.rounded())
      }
    }
    return result
  }

  private func encode(_ coefficients: [Int], _ predictor: inout Int, _ bits: inout BitWriter) {
    let difference = coefficients[0] - predictor
    predictor = coefficients[0]
    let size = BitWriter.size(difference)
    bits.put(size, 4)
    bits.putValue(difference, size)
    var run = 0
    for position in Self.zigzag.dropFirst() {
      let value = coefficients[position]
      guard value != 0 else {
        run += 1
        continue
      }
      while run > 15 {
        bits.put(Self.acCodes[0xF0] ?? 0, 8)
        run -= 16
      }
      let size = BitWriter.size(value)
      bits.put(Self.acCodes[UInt8(run << 4 | size)] ?? 0, 8)
      bits.putValue(value, size)
      run = 0
    }
    if run > 0 { bits.put(Self.acCodes[0x00] ?? 0, 8) }
  }

  /// Positions of a block in zigzag order: along the diagonals, up and down in turn.
  private static let zigzag: [Int] = (0..<64).sorted { a, b in
    let (first, second) = (a / 8 + a % 8, b / 8 + b % 8)
    if first != second { return first < second }
    return first % 2 == 0 ? a / 8 > b / 8 : a / 8 < b / 8
  }
}

/// Markers that tests write, but for which `BlockDecoder` needs no names.
extension JPEGMarker {
  /// Start of frame: extended sequential, with arithmetic coding.
  static let sof9 = JPEGMarker(rawValue: 0xC9)
  /// EXIF.
  static let app1 = JPEGMarker(rawValue: 0xE1)
  /// Colour profiles.
  static let app2 = JPEGMarker(rawValue: 0xE2)
  /// Adobe's colour transform.
  static let app14 = JPEGMarker(rawValue: 0xEE)
}

/// Writes bits, highest first, and a stuffed zero after every FF.
struct BitWriter {
  private var bytes: [UInt8] = []
  private var pending = 0
  private var count = 0

  static func size(_ value: Int) -> Int { Int.bitWidth - value.magnitude.leadingZeroBitCount }

  mutating func put(_ value: Int, _ length: Int) {
    for bit in stride(from: length - 1, through: 0, by: -1) {
      pending = pending << 1 | (value >> bit & 1)
      count += 1
      if count == 8 { flush() }
    }
  }

  mutating func putValue(_ value: Int, _ size: Int) { put(value < 0 ? value + (1 << size) - 1 : value, size) }

  mutating func restart(_ index: Int) {
    align()
    bytes += JPEGMarker.rst(after: index).bytes
  }

  mutating func finish() -> [UInt8] {
    align()
    return bytes
  }

  private mutating func align() { while count > 0 { put(1, 1) } }

  private mutating func flush() {
    bytes.append(UInt8(pending))
    if pending == Int(JPEGMarker.prefix) { bytes.append(JPEGMarker.stuffing) }
    pending = 0
    count = 0
  }
}
