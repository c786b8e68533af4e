import CDecoding
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// Formats whose rows our own code reads: BMP, icons, TGA and the merged pictures of Photoshop files.
@Suite(.timeLimit(.minutes(1)))
struct RasterTests {
  private static let (width, height) = (13, 7)

  /// The index of a pixel, of up to 4 bits.
  private static func index(_ x: Int, _ y: Int) -> Int { (x * 3 + y * 5 + x * y) % 16 }
  private static func color(_ index: Int) -> [UInt8] { [UInt8(index * 17), UInt8(255 - index * 11), UInt8(index * 7)] }
  private static func color(_ x: Int, _ y: Int) -> [UInt8] { color(index(x, y)) }

  /// Numbers of 2 or 4 bytes.
  private static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(value >> (8 * $0) & 255) }
  }
  private static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

  /// A file, and the pixels that it shows: red, green, blue and alpha.
  struct Picture: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: ImageType
    let bytes: [UInt8]
    var alpha: @Sendable (_ x: Int, _ y: Int) -> UInt8 = { _, _ in 255 }
    /// Grey pictures show the first channel.
    var color: @Sendable (_ x: Int, _ y: Int) -> [UInt8] = { RasterTests.color($0, $1) }
    /// What the narrow channels of some files cannot tell.
    var tolerance = 0
    /// The bytes at the end that are not needed.
    var spare = 0
  }

  private static func pack(_ indices: [Int], bits: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: (indices.count * bits + 31) / 32 * 4)
    for (place, index) in indices.enumerated() {
      bytes[place * bits / 8] |= UInt8(index << (8 - bits - place * bits % 8))
    }
    return bytes
  }

  // MARK: BMP

  private static func bitmap(
    size: Int = 40, bits: Int, height: Int? = nil, compression: Int = 0, masks: [Int] = [], colors: Int = 0,
    rows: [UInt8], isFile: Bool = true
  ) -> [UInt8] {
    let height = height ?? Self.height
    var header = little(size, 4)
    if size == 12 {
      header += little(width, 2) + little(height, 2) + little(1, 2) + little(bits, 2)
    } else {
      header += little(width, 4) + little(height & 0xFFFF_FFFF, 4) + little(1, 2) + little(bits, 2)
      header += little(compression, 4) + little(rows.count, 4) + little(0, 8) + little(colors, 4) + little(0, 4)
      header += masks.flatMap { little($0, 4) }
      header += [UInt8](repeating: 0, count: max(0, size - header.count))
    }
    let palette =
      bits > 8
      ? []
      : (0..<(colors == 0 ? 1 << bits : colors)).flatMap { index in
        (index < 16 ? color(index) : [0, 0, 0]).reversed() + (size == 12 ? [] : [0])
      }
    let body = header + palette + rows
    return isFile
      ? Array("BM".utf8) + little(14 + body.count, 4) + little(0, 4) + little(14 + body.count - rows.count, 4) + body
      : body
  }

  private static let upwards = (0..<height).reversed()

  private static func rows(_ bits: Int, mask: @Sendable (Int, Int) -> Int = { RasterTests.index($0, $1) }) -> [UInt8] {
    upwards.flatMap { y in pack((0..<width).map { mask($0, y) }, bits: bits) }
  }

  /// Rows of whole bytes, padded to words.
  private static func wide(_ order: any Collection<Int>, padded: Bool = true, _ pixel: (Int, Int) -> [UInt8]) -> [UInt8]
  {
    order.flatMap { y in
      let row = (0..<width).flatMap { pixel($0, y) }
      return row + [UInt8](repeating: 0, count: padded ? (4 - row.count % 4) % 4 : 0)
    }
  }

  /// Runs of BMP: a run, given pixels, an end of line; then a jump over a row and some pixels.
  private static let runs: [UInt8] = [3, 2, 0, 3, 4, 5, 6, 0, 0, 0] + [0, 2, 2, 1, 2, 7, 0, 1]

  private static func run(_ x: Int, _ y: Int) -> [UInt8] {
    switch (x, height - 1 - y) {
    case (0..<3, 0): color(2)
    case (3..<6, 0): color(x + 1)
    case (2..<4, 2): color(7)
    default: color(0)
    }
  }

  static let bitmaps: [Picture] =
    [1, 2, 4, 8].map { bits in
      Picture(
        testDescription: "BMP with indices of \(bits) bits", type: .bmp,
        bytes: bitmap(bits: bits, rows: rows(bits) { index($0, $1) % (1 << bits) }),
        color: { color(index($0, $1) % (1 << bits)) })
    } + [
      Picture(
        testDescription: "BMP with 12 colours", type: .bmp,
        bytes: bitmap(bits: 8, colors: 12, rows: rows(8) { index($0, $1) % 14 }),
        color: { index($0, $1) % 14 < 12 ? color(index($0, $1) % 14) : [0, 0, 0] }),
      Picture(testDescription: "BMP of OS/2", type: .bmp, bytes: bitmap(size: 12, bits: 8, rows: rows(8))),
      Picture(
        testDescription: "BMP, 24 bits", type: .bmp,
        bytes: bitmap(bits: 24, rows: wide(upwards) { color($0, $1).reversed() })),
      Picture(
        testDescription: "BMP from top to bottom", type: .bmp,
        bytes: bitmap(bits: 24, height: -height, rows: wide(0..<height) { color($0, $1).reversed() })),
      Picture(
        testDescription: "BMP, 32 bits", type: .bmp,
        bytes: bitmap(bits: 32, rows: wide(upwards) { color($0, $1).reversed() + [7] })),
      Picture(
        testDescription: "BMP with alpha", type: .bmp,
        bytes: bitmap(
          size: 108, bits: 32, compression: 3, masks: [0xFF, 0xFF00, 0xFF0000, 0xFF00_0000],
          rows: wide(upwards) { color($0, $1) + [UInt8($0 * 19)] }), alpha: { x, _ in UInt8(x * 19) }),
      Picture(
        testDescription: "BMP with alpha of zeros", type: .bmp,
        bytes: bitmap(
          size: 56, bits: 32, compression: 3, masks: [0xFF, 0xFF00, 0xFF0000, 0xFF00_0000],
          rows: wide(upwards) { color($0, $1) + [0] })),
      Picture(
        testDescription: "BMP with 5, 6 and 5 bits", type: .bmp,
        bytes: bitmap(
          bits: 16, compression: 3, masks: [0xF800, 0x07E0, 0x001F],
          rows: wide(upwards) { x, y in
            let color = color(x, y).map(Int.init)
            return little((color[0] >> 3) << 11 | (color[1] >> 2) << 5 | color[2] >> 3, 2)
          }), tolerance: 8),
      Picture(
        testDescription: "BMP with runs", type: .bmp, bytes: bitmap(bits: 8, compression: 1, rows: runs),
        color: { run($0, $1) }),
      Picture(
        testDescription: "BMP with runs of half bytes", type: .bmp,
        bytes: bitmap(bits: 4, compression: 2, rows: [3, 0x22, 0, 3, 0x45, 0x60, 0, 0] + [0, 2, 2, 1, 2, 0x77, 0, 1]),
        color: { run($0, $1) }),
    ]

  // MARK: Icons

  private static func icon(_ picture: [UInt8], width: Int = width, height: Int = height) -> [UInt8] {
    // A smaller picture comes first.
    [0, 0, 1, 0, 2, 0] + [1, 1, 0, 0] + little(1, 2) + little(32, 2) + little(4, 4) + little(0, 4)
      + [UInt8(width), UInt8(height), 0, 0] + little(1, 2) + little(32, 2) + little(picture.count, 4) + little(38, 4)
      + picture
  }

  /// The rows of a mask that makes the first columns transparent.
  private static let mask = upwards.flatMap { _ in pack((0..<width).map { $0 < 4 ? 1 : 0 }, bits: 1) }

  static let icons: [Picture] = [
    Picture(
      testDescription: "icon with a mask", type: .ico,
      bytes: icon(
        bitmap(bits: 24, height: 2 * height, rows: wide(upwards) { color($0, $1).reversed() } + mask, isFile: false)),
      alpha: { x, _ in x < 4 ? 0 : 255 }),
    Picture(
      testDescription: "icon with alpha", type: .ico,
      bytes: icon(
        bitmap(
          bits: 32, height: 2 * height, rows: wide(upwards) { color($0, $1).reversed() + [UInt8($0 * 19)] } + mask,
          isFile: false)),
      alpha: { x, _ in UInt8(x * 19) }, spare: mask.count),
    Picture(
      testDescription: "icon without alpha", type: .ico,
      bytes: icon(
        bitmap(
          bits: 32, height: 2 * height, rows: wide(upwards) { color($0, $1).reversed() + [0] } + mask, isFile: false)),
      alpha: { x, _ in x < 4 ? 0 : 255 }),
  ]

  // MARK: TGA

  private static func targa(
    kind: UInt8, bits: UInt8, descriptor: UInt8 = 0x20, palette: [UInt8] = [], first: Int = 0, _ rows: [UInt8]
  ) -> [UInt8] {
    let entries = palette.isEmpty ? little(0, 5) : little(first, 2) + little(palette.count / 3, 2) + [24]
    return [2, palette.isEmpty ? 0 : 1, kind] + entries + little(0, 4) + little(width, 2) + little(height, 2)
      + [bits, descriptor] + Array("id".utf8) + palette + rows
  }

  /// Runs of one and two pixels, which do not end with the rows.
  private static let targaRuns: [UInt8] = {
    let pixels = (0..<height).flatMap { y in (0..<width).map { color($0, y) } }
    var (bytes, place): ([UInt8], Int) = ([], 0)
    while place < pixels.count {
      let count = min(place % 3 + 1, pixels.count - place)
      let part = pixels[place..<place + count]
      if part.allSatisfy({ $0 == part[place] }) {
        bytes += [0x80 | UInt8(count - 1)] + pixels[place].reversed()
      } else {
        bytes += [UInt8(count - 1)] + part.flatMap { $0.reversed() }
      }
      place += count
    }
    return bytes
  }()

  static let targas: [Picture] = [
    Picture(
      testDescription: "TGA", type: .tga,
      bytes: targa(kind: 2, bits: 24, wide(0..<height, padded: false) { color($0, $1).reversed() })),
    Picture(
      testDescription: "TGA from bottom to top", type: .tga,
      bytes: targa(kind: 2, bits: 24, descriptor: 0, wide(upwards, padded: false) { color($0, $1).reversed() })),
    Picture(
      testDescription: "TGA from right to left", type: .tga,
      bytes: targa(
        kind: 2, bits: 24, descriptor: 0x30, wide(0..<height, padded: false) { color(width - 1 - $0, $1).reversed() })),
    Picture(
      testDescription: "TGA with alpha", type: .tga,
      bytes: targa(
        kind: 2, bits: 32, descriptor: 0x28,
        wide(0..<height, padded: false) { color($0, $1).reversed() + [UInt8($0 * 19)] }),
      alpha: { x, _ in UInt8(x * 19) }),
    Picture(
      testDescription: "TGA, grey", type: .tga,
      bytes: targa(kind: 3, bits: 8, wide(0..<height, padded: false) { [color($0, $1)[0]] })),
    Picture(
      testDescription: "TGA with a palette", type: .tga,
      bytes: targa(
        kind: 1, bits: 8, palette: (0..<16).flatMap { color($0).reversed() }, first: 100,
        wide(0..<height, padded: false) { [UInt8(index($0, $1) + 100)] })),
    Picture(testDescription: "TGA with runs", type: .tga, bytes: targa(kind: 10, bits: 24, targaRuns)),
  ]

  // MARK: Photoshop

  private static func packBits(_ row: [UInt8]) -> [UInt8] {
    // Given bytes, a run of two, and a code that counts for nothing.
    let repeated: [UInt8] = row.count > 3 && row[row.count - 1] == row[row.count - 2] ? [255, row[row.count - 1]] : []
    let given = repeated.isEmpty ? row : row.dropLast(2)
    return [UInt8(given.count - 1)] + given + [128] + repeated
  }

  private static func photoshop(
    mode: Int, bits: Int = 8, isPacked: Bool = false, version: Int = 1, colors: [UInt8] = [], layers: [UInt8] = [],
    resources: [UInt8] = [], channels: [[UInt8]]
  ) -> [UInt8] {
    let rowBytes = channels[0].count / height
    let rows = channels.flatMap { channel in (0..<height).map { Array(channel[$0 * rowBytes..<($0 + 1) * rowBytes]) } }
    let packed = rows.map(packBits)
    let (sizeBytes, lengthBytes) = version == 1 ? (2, 4) : (4, 8)
    let data = isPacked ? packed.flatMap { big($0.count, sizeBytes) } + packed.joined() : Array(rows.joined())
    return Array("8BPS".utf8) + big(version, 2) + [UInt8](repeating: 0, count: 6) + big(channels.count, 2)
      + big(height, 4) + big(width, 4) + big(bits, 2) + big(mode, 2) + big(colors.count, 4) + colors
      + big(resources.count, 4) + resources + big(layers.count, lengthBytes) + layers + big(isPacked ? 1 : 0, 2) + data
  }

  private static func channel(_ sample: (Int, Int) -> [UInt8]) -> [UInt8] {
    (0..<height).flatMap { y in (0..<width).flatMap { sample($0, y) } }
  }
  private static let colors = (0..<3).map { plane in channel { [color($0, $1)[plane]] } }
  private static let alphas = channel { x, _ in [UInt8(x * 19)] }
  /// The colours as Photoshop stores them: mixed with white.
  private static let mixed = (0..<3).map { plane in
    channel { x, y in
      let alpha = x * 19
      return [UInt8((Int(color(x, y)[plane]) * alpha + 255 * (255 - alpha) + 127) / 255)]
    }
  }
  /// The most bytes of a channel that is not shown.
  private static let spareChannel = height * (width + 4)
  /// A negative count of layers.
  private static let transparent = big(2, 4) + [0xFF, 0xFF]

  static let photoshops: [Picture] =
    [false, true].flatMap { isPacked in
      [1, 2].map { version in
        Picture(
          testDescription: "Photoshop, version \(version)\(isPacked ? ", packed" : "")", type: .psd,
          bytes: photoshop(mode: 3, isPacked: isPacked, version: version, channels: colors + [alphas]),
          spare: spareChannel)
      }
    } + [
      Picture(
        testDescription: "Photoshop with alpha", type: .psd,
        bytes: photoshop(mode: 3, isPacked: true, layers: transparent, channels: mixed + [alphas, alphas]),
        alpha: { x, _ in UInt8(x * 19) }, tolerance: 14, spare: spareChannel),
      Picture(
        testDescription: "Photoshop with alpha of another program", type: .psd,
        bytes: photoshop(mode: 3, layers: transparent, channels: colors + [alphas]), alpha: { x, _ in UInt8(x * 19) },
        tolerance: 14),
      Picture(
        testDescription: "Photoshop, 16 bits", type: .psd,
        bytes: photoshop(mode: 3, bits: 16, isPacked: true, channels: colors.map { $0.flatMap { [$0, $0] } })),
      Picture(
        testDescription: "Photoshop with a palette", type: .psd,
        bytes: photoshop(
          mode: 2,
          colors: (0..<3).flatMap { plane in (0..<256).map { $0 < 16 ? color($0)[plane] : 0 } },
          channels: [channel { [UInt8(index($0, $1))] }])),
      Picture(
        testDescription: "Photoshop, grey", type: .psd, bytes: photoshop(mode: 1, isPacked: true, channels: [colors[0]])
      ),
      Picture(
        testDescription: "Photoshop, black and white", type: .psd,
        bytes: photoshop(
          mode: 0, bits: 1,
          channels: [
            (0..<height).flatMap { y in pack((0..<width).map { index($0, y) % 2 }, bits: 1).prefix((width + 7) / 8) }
          ]),
        color: { index($0, $1) % 2 == 1 ? [0] : [255] }),
      Picture(
        testDescription: "Photoshop, inks", type: .psd,
        bytes: photoshop(mode: 4, channels: colors + [channel { _, _ in [255] }])),
    ]

  static let all = bitmaps + icons + targas + photoshops

  // MARK: -

  @Test(arguments: all) func everyPixelIsWhereItShouldBe(_ picture: Picture) throws {
    #expect(ImageType.sniff(picture.bytes) == picture.type)
    let file = try DecodedFile(picture.bytes, picture.type)
    #expect(file.status == CDECODING_OK, "\(file.message)")
    #expect(file.header.pixels == PixelSize(width: Self.width, height: Self.height))
    for y in 0..<Self.height {
      for x in 0..<Self.width {
        let (made, wanted, alpha) = (file.pixel(x, y), picture.color(x, y), picture.alpha(x, y))
        #expect(made.alpha == alpha, "alpha at \(x), \(y)")
        // What is nearly invisible keeps little of its colour.
        guard alpha > 18 else { continue }
        let tolerance = alpha == 255 && picture.tolerance == 14 ? 0 : max(picture.tolerance, alpha == 255 ? 0 : 14)
        for (made, wanted) in zip(made.colors, wanted) {
          #expect(abs(Int(made) - Int(wanted)) <= tolerance, "\(made) instead of \(wanted) at \(x), \(y)")
        }
      }
    }
  }

  @Test(arguments: all) func aFileThatIsCutOffFails(_ picture: Picture) {
    for count in 0..<picture.bytes.count {
      let cut = Array(picture.bytes.prefix(count))
      do throws(ThumbnailError) {
        let file = try DecodedFile(cut, picture.type)
        // Of runs, only the mark of the end may be missing.
        let isWhole = file.status == CDECODING_OK && picture.bytes.count - count <= 4 && file.warning != ""
        let isEnough = file.status == CDECODING_OK && picture.bytes.count - count <= picture.spare
        #expect(file.status == CDECODING_TRUNCATED || isWhole || isEnough, "\(count): \(file.message)")
      } catch {
        switch error {
        case .truncated, .damaged: break
        default: Issue.record("\(count): \(error)")
        }
      }
    }
  }

  /// No change may crash the decoder, or let it write outside its memory.
  @Test(arguments: all) func changedFilesAreDecodedOrRefused(_ picture: Picture) {
    var numbers = SplitMix(seed: 7)
    for _ in 0..<400 {
      let bytes = numbers.changed(picture.bytes, bytes: 1...3, within: 120)
      guard let type = ImageType.sniff(bytes), let file = try? DecodedFile(bytes, type) else { continue }
      #expect(
        [CDECODING_OK, CDECODING_TRUNCATED, CDECODING_DAMAGED, CDECODING_NO_MEMORY].contains(file.status),
        "\(file.message)")
    }
  }
}
