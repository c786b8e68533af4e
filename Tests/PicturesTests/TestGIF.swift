/// A small GIF file, written without a library: its codes are those of single pixels.
struct TestGIF {
  var screen = (width: 9, height: 7)
  var frame = (left: 0, top: 0, width: 9, height: 7)
  var isInterlaced = false
  var hasGlobalTable = true
  var hasLocalTable = false
  /// The index that is transparent.
  var transparent: UInt8?
  /// Blocks between the screen descriptor and the graphic control extension.
  var blocks: [UInt8] = []

  static let tableBits = 3

  func index(_ x: Int, _ y: Int) -> Int { (x * 3 + y * 5 + x * y) % 8 }

  func color(_ index: Int) -> [UInt8] {
    guard hasGlobalTable || hasLocalTable else { return [UInt8](repeating: index == 1 ? 255 : UInt8(index), count: 3) }
    let shift = hasLocalTable ? 100 : 0
    return [(index * 31 + shift) & 0xFF, 255 - index * 11, (index * 77 + shift) & 0xFF].map { UInt8($0) }
  }

  /// The colour at a place of the screen, and alpha, of 0 to 255.
  func pixel(_ x: Int, _ y: Int) -> (colors: [Double], alpha: Double) {
    let (column, row) = (x - frame.left, y - frame.top)
    guard (0..<frame.width).contains(column), (0..<frame.height).contains(row) else { return ([0, 0, 0], 0) }
    let index = index(column, row)
    return (color(index).map(Double.init), transparent.map(Int.init) == index ? 0 : 255)
  }

  var bytes: [UInt8] {
    var bytes = Array("GIF89a".utf8) + word(screen.width) + word(screen.height)
    let size = UInt8(Self.tableBits - 1)
    bytes += [hasGlobalTable ? 0x80 | size : 0, 0, 0]
    let global = Self(hasLocalTable: false)
    if hasGlobalTable { bytes += (0..<8).flatMap(global.color) }
    bytes += blocks
    if let transparent { bytes += [0x21, 0xF9, 4, 1, 0, 0, transparent, 0] }
    bytes += [0x2C] + word(frame.left) + word(frame.top) + word(frame.width) + word(frame.height)
    bytes.append((hasLocalTable ? 0x80 | size : 0) | (isInterlaced ? 0x40 : 0))
    if hasLocalTable { bytes += (0..<8).flatMap(color) }
    return bytes + [UInt8(Self.tableBits)] + Self.blocks(of: data) + [0x3B]
  }

  /// The bytes of the codes. A clear code before every sixth pixel keeps the codes at four bits.
  private var data: [UInt8] {
    let rows =
      isInterlaced
      ? [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: frame.height, by: $0.1)) }
      : Array(0..<frame.height)
    let indices = rows.flatMap { row in (0..<frame.width).map { index($0, row) } }
    let (clear, end) = (8, 9)
    let codes = indices.enumerated().flatMap { $0.offset % 6 == 0 ? [clear, $0.element] : [$0.element] } + [end]
    return stride(from: 0, to: codes.count, by: 2).map {
      UInt8(codes[$0] | ($0 + 1 < codes.count ? codes[$0 + 1] : 0) << 4)
    }
  }

  /// Data as blocks, each after its length, and an empty one.
  static func blocks(of data: [UInt8]) -> [UInt8] {
    stride(from: 0, to: data.count, by: 255).flatMap { start -> [UInt8] in
      let block = data[start..<min(start + 255, data.count)]
      return [UInt8(block.count)] + block
    } + [0]
  }

  private func word(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
}
