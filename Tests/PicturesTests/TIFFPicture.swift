import CDecoding
import Foundation
import PictureWriters
import Testing
import Thumbnails

/// A TIFF file with ramps in all directions, and the means that a decoder must find.
struct TIFFPicture: CustomTestStringConvertible {
  /// The numbers of the specification are below.
  enum Photometric: Sendable { case minIsWhite, minIsBlack, rgb, palette, cmyk, lab, iccLab }
  enum Compression: Sendable {
    case none, group3, group4, lzw, jpeg, deflate, packBits, oldDeflate, lerc, lzma, zstd, webp

    var isLossy: Bool { self == .jpeg || self == .webp }
  }
  enum Format: Sendable { case unsigned, signed, real }
  enum Pieces: Sendable {
    case strips(Int)
    case tiles(Int)
  }
  /// The last sample.
  enum Alpha: Sendable { case associated, unassociated }

  private static let photometrics: [Photometric: UInt16] = [
    .minIsWhite: 0, .minIsBlack: 1, .rgb: 2, .palette: 3, .cmyk: 5, .lab: 8, .iccLab: 9,
  ]
  private static let compressions: [Compression: UInt16] = [
    .none: 1, .group3: 3, .group4: 4, .lzw: 5, .jpeg: 7, .deflate: 8, .packBits: 32773, .oldDeflate: 32946,
    .lerc: 34887,
    .lzma: 34925, .zstd: 50000, .webp: 50001,
  ]
  private static let formats: [Format: UInt16] = [.unsigned: 1, .signed: 2, .real: 3]
  private static let alphas: [Alpha: UInt16] = [.associated: 1, .unassociated: 2]

  var size = PixelSize(width: 45, height: 33)
  var photometric = Photometric.rgb
  var compression = Compression.none
  var bits = 8
  var format = Format.unsigned
  var pieces = Pieces.strips(5)
  var isSeparate = false
  var alpha: Alpha?
  /// Samples of which nothing is said, at the end.
  var others = 0
  var predictor = 0
  var isBig = false
  var isBigEndian = false
  var hasReversedBits = false
  /// Whether nothing is said of alpha.
  var hidesAlpha = false

  var testDescription: String {
    "\(photometric) \(compression) \(bits) \(format) \(pieces) separate \(isSeparate) "
      + "alpha \(alpha.map { "\($0)" } ?? "-") predictor \(predictor) big \(isBig) \(isBigEndian) reversed \(hasReversedBits)"
  }

  var colors: Int {
    switch photometric {
    case .minIsWhite, .minIsBlack, .palette: 1
    case .cmyk: 4
    default: 3
    }
  }
  var planes: Int { photometric == .palette ? 3 : colors }
  var samples: Int { colors + (alpha == nil ? 0 : 1) + others }

  // MARK: Values

  /// The largest number of a sample.
  private var most: Double {
    switch format {
    case .unsigned: scalbn(1.0, bits) - 1
    // Of 8 bits, no program is known to write negative values.
    case .signed: bits == 8 ? 255 : scalbn(1.0, bits - 1) - 1
    case .real: 1
    }
  }

  /// What a sample of a pixel is before alpha is multiplied into it, 0 to 1.
  private func ideal(_ sample: Int, _ x: Int, _ y: Int) -> Double {
    let (across, down) = (Double(x) / Double(size.width - 1), Double(y) / Double(size.height - 1))
    let ramp = [across, down, 1 - across, (across + down) / 2, 1 - down][sample % 5]
    return compression.isLossy ? ramp : 0.7 * ramp + 0.3 * Double((x * 7 + y * 13 + sample) % 5) / 4
  }

  private var alphaSample: Int? { alpha == nil ? nil : colors }

  /// The number in the file.
  private func stored(_ sample: Int, _ x: Int, _ y: Int) -> Double {
    var value = ideal(sample, x, y)
    if alpha == .associated, sample < colors { value *= ideal(colors, x, y) }
    return format == .real ? value : (value * most).rounded()
  }

  /// The 8-bit value that a sample stands for.
  private func shown(_ sample: Int, _ x: Int, _ y: Int) -> Double { stored(sample, x, y) / most * 255 }

  private static func mapped(_ index: Int, _ color: Int) -> UInt16 {
    UInt16((index * (37 + color * 50) + color * 99) % 256 * 257)
  }

  /// The value of a plane for one pixel, mixed with the background.
  private func expected(_ plane: Int, _ x: Int, _ y: Int, background: Double) -> Double {
    var color = shown(min(plane, colors - 1), x, y)
    if photometric == .palette { color = Double(Self.mapped(Int(stored(0, x, y)), plane) / 257) }
    if photometric == .minIsWhite { color = 255 - color }
    guard let alphaSample else { return color }
    let opacity = shown(alphaSample, x, y) / 255
    return (alpha == .associated ? color : color * opacity) + background * (1 - opacity)
  }

  /// The means of a plane, in rows.
  func means(_ plane: Int, shrink: Int, background: Double = 255) -> [Double] {
    stride(from: 0, to: size.height, by: shrink).flatMap { top in
      stride(from: 0, to: size.width, by: shrink).map { left in
        var (sum, count) = (0.0, 0.0)
        for y in top..<min(top + shrink, size.height) {
          for x in left..<min(left + shrink, size.width) {
            sum += expected(plane, x, y, background: background)
            count += 1
          }
        }
        return sum / count
      }
    }
  }

  // MARK: The file

  private func bytes(_ value: Double) -> [UInt8] {
    switch (format, bits) {
    case (.real, 16): return Self.native(Float16(value).bitPattern)
    case (.real, 32): return Self.native(Float(value).bitPattern)
    case (.real, _): return Self.native(value.bitPattern)
    case (_, 8): return [UInt8(value)]
    case (_, 16): return Self.native(UInt16(value))
    case (_, 32): return Self.native(UInt32(value))
    case (.signed, _): return Self.native(Int64(exactly: value) ?? .max)
    default: return Self.native(UInt64(exactly: value) ?? .max)
    }
  }

  private static func native(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

  /// Rows of packed samples, of one plane after the other.
  private var rows: (bytes: [UInt8], rowSize: Int) {
    var packed: [UInt8] = []
    var rowSize = 0
    for plane in 0..<(isSeparate ? samples : 1) {
      for y in 0..<size.height {
        let values = (0..<size.width).flatMap { x in
          isSeparate ? [stored(plane, x, y)] : (0..<samples).map { stored($0, x, y) }
        }
        let row: [UInt8]
        if bits >= 8 && bits != 12 {
          row = values.flatMap(bytes)
        } else {
          var (word, left) = (0, 8)
          var target: [UInt8] = []
          for value in values {
            for bit in (0..<bits).reversed() {
              word = word << 1 | Int(value) >> bit & 1
              left -= 1
              if left == 0 { target.append(UInt8(word)) }
              if left == 0 { (word, left) = (0, 8) }
            }
          }
          row = left < 8 ? target + [UInt8(word << left)] : target
        }
        rowSize = row.count
        packed += row
      }
    }
    return (packed, rowSize)
  }

  var recipe: tiff_recipe {
    var recipe = tiff_recipe()
    (recipe.width, recipe.height) = (UInt32(size.width), UInt32(size.height))
    (recipe.samples, recipe.bits, recipe.format) = (UInt16(samples), UInt16(bits), Self.formats[format]!)
    recipe.photometric = Self.photometrics[photometric]!
    recipe.compression = Self.compressions[compression]!
    (recipe.is_separate, recipe.is_big, recipe.is_big_endian) = (isSeparate, isBig, isBigEndian)
    recipe.has_reversed_bits = hasReversedBits
    switch pieces {
    case .strips(let rows): recipe.rows_per_strip = UInt32(rows)
    case .tiles(let side): recipe.tile_side = UInt32(side)
    }
    (recipe.extra, recipe.predictor) = (hidesAlpha ? 0 : alpha.flatMap { Self.alphas[$0] } ?? 0, UInt16(predictor))
    return recipe
  }

  func file() -> [UInt8] {
    var recipe = recipe
    let (packed, rowSize) = rows
    guard photometric == .palette else { return Self.write(&recipe, packed, rowSize) }
    let map = (0..<3).flatMap { color in (0..<1 << bits).map { Self.mapped($0, color) } }
    return map.withUnsafeBufferPointer {
      recipe.map = $0.baseAddress
      return Self.write(&recipe, packed, rowSize)
    }
  }

  static func write(_ recipe: inout tiff_recipe, _ rows: [UInt8], _ rowSize: Int) -> [UInt8] {
    let file = write_tiff(&recipe, rows, rowSize)
    guard let bytes = file.bytes else { return [] }
    defer { free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: file.size))
  }

  /// The offset of the first directory.
  static func directory(of file: [UInt8]) -> UInt64 {
    guard file.count >= 16 else { return 0 }
    let isBigEndian = file[0] == 0x4D
    let isBig = file[isBigEndian ? 3 : 2] == 43
    let bytes = isBig ? file[8..<16] : file[4..<8]
    return (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The request for a file.
  func planes(of file: [UInt8], shrink: Int, background: UInt8 = 255) -> DecoderCall {
    var planes = DecoderCall(
      file, CDECODING_TIFF, size, planes: planes, shrink: shrink,
      background: [background, background, background, background])
    planes.request.start = Self.directory(of: file)
    return planes
  }
}
