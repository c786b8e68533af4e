import CDecoding
import PictureWriters
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(5))) struct TIFFDecodingTests {
  /// Decodes a picture in several sizes, and compares its planes with the means.
  static func check(
    _ picture: TIFFPicture, tolerance: Double = 1.3, shrinks: [Int] = [1, 4, 7],
    _ location: SourceLocation = #_sourceLocation
  ) {
    let file = picture.file()
    guard !file.isEmpty else {
      Issue.record("libtiff cannot write \(picture.testDescription)", sourceLocation: location)
      return
    }
    for shrink in shrinks {
      let decoded = picture.planes(of: file, shrink: shrink, background: 200).decoded()
      #expect(decoded.status == CDECODING_OK, "\(decoded.message)", sourceLocation: location)
      #expect(decoded.warning.isEmpty, sourceLocation: location)
      guard decoded.status == CDECODING_OK else { return }
      for plane in 0..<picture.planes {
        let means = picture.means(plane, shrink: shrink, background: 200)
        let worst = zip(means, decoded.plane(plane)).map { abs($0 - Double($1)) }.max() ?? 255
        #expect(worst <= tolerance, "plane \(plane), shrink \(shrink)", sourceLocation: location)
      }
    }
  }

  static let layouts: [(TIFFPicture.Pieces, Bool)] = [
    (.strips(5), false), (.strips(33), false), (.tiles(16), false), (.strips(5), true), (.strips(33), true),
    (.tiles(16), true),
  ]
  static let lossless: [TIFFPicture.Compression] = [.none, .lzw, .deflate, .oldDeflate, .packBits, .zstd, .lzma]

  @Test(arguments: lossless, layouts.indices) func eachCompressionAndLayoutGivesTheMeans(
    _ compression: TIFFPicture.Compression, _ layout: Int
  ) {
    var picture = TIFFPicture(compression: compression)
    (picture.pieces, picture.isSeparate) = Self.layouts[layout]
    Self.check(picture)
    picture.alpha = .unassociated
    Self.check(picture)
    (picture.bits, picture.alpha, picture.isBigEndian) = (16, nil, true)
    Self.check(picture)
  }

  @Test(arguments: layouts.indices) func lossyCompressionIsNear(_ layout: Int) {
    // What fills tiles outside the picture would change the pixels beside it.
    var picture = TIFFPicture(size: PixelSize(width: 48, height: 32), compression: .jpeg)
    (picture.pieces, picture.isSeparate) = Self.layouts[layout]
    // libtiff wants multiples of 8 rows.
    if case .strips(5) = picture.pieces { picture.pieces = .strips(16) }
    Self.check(picture, tolerance: 9, shrinks: [4])
    picture.photometric = .minIsBlack
    Self.check(picture, tolerance: 6, shrinks: [4])
    if !picture.isSeparate {
      picture.photometric = .cmyk
      Self.check(picture, tolerance: 9, shrinks: [4])
      (picture.photometric, picture.compression) = (.rgb, .webp)
      Self.check(picture, tolerance: 12, shrinks: [4])
    }
  }

  /// Chroma at half the size, which libjpeg enlarges.
  @Test(arguments: [TIFFPicture.Pieces.strips(16), .tiles(16)])
  func jpegWithChromaIsNear(_ pieces: TIFFPicture.Pieces) {
    let picture = TIFFPicture(size: PixelSize(width: 48, height: 32), compression: .jpeg, pieces: pieces)
    var recipe = picture.recipe
    (recipe.photometric, recipe.across, recipe.down) = (6, 2, 2)
    var pixels: [UInt8] = []
    for y in 0..<32 {
      for x in 0..<48 { pixels += [UInt8(x * 5), UInt8(y * 7), UInt8(220 - x * 4)] }
    }
    let file = TIFFPicture.write(&recipe, pixels, 48 * 3)
    let decoded = picture.planes(of: file, shrink: 4).decoded()
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    let (reds, greens) = (decoded.plane(0), decoded.plane(1))
    for place in reds.indices {
      let (x, y) = (place % 12 * 4, place / 12 * 4)
      #expect(abs(Int(reds[place]) - (x * 5 + 7)) <= 12)
      #expect(abs(Int(greens[place]) - (y * 7 + 10)) <= 12)
    }
  }

  @Test func lercKeepsIntegersAndRealNumbers() {
    for (bits, format) in [(8, TIFFPicture.Format.unsigned), (16, .unsigned), (32, .real), (64, .real)] {
      for layout in Self.layouts where !layout.1 {
        Self.check(TIFFPicture(compression: .lerc, bits: bits, format: format, pieces: layout.0))
      }
    }
  }

  static let depths: [(Int, TIFFPicture.Format)] = [
    (1, .unsigned), (2, .unsigned), (4, .unsigned), (8, .unsigned), (12, .unsigned), (16, .unsigned), (32, .unsigned),
    (64, .unsigned), (8, .signed), (16, .signed), (32, .signed), (64, .signed), (16, .real), (32, .real), (64, .real),
  ]

  @Test(arguments: depths.indices, [TIFFPicture.Photometric.minIsWhite, .minIsBlack, .rgb, .cmyk])
  func eachDepthGivesTheMeans(_ depth: Int, _ photometric: TIFFPicture.Photometric) {
    let (bits, format) = Self.depths[depth]
    for compression in [TIFFPicture.Compression.none, .lzw] {
      for isSeparate in [false, true] where !(isSeparate && photometric != .rgb) {
        let picture = TIFFPicture(
          photometric: photometric, compression: compression, bits: bits, format: format, isSeparate: isSeparate)
        Self.check(picture)
        var other = picture
        (other.isBigEndian, other.isBig) = (true, true)
        Self.check(other)
      }
    }
  }

  @Test(arguments: [TIFFPicture.Photometric.minIsWhite, .minIsBlack, .rgb, .palette], [8, 16])
  func alphaIsMixedWithTheBackground(_ photometric: TIFFPicture.Photometric, _ bits: Int) {
    guard photometric != .palette || bits == 8 else { return }
    for alpha in [TIFFPicture.Alpha.associated, .unassociated] {
      // An index is not multiplied, and white as 0 would be at the wrong end.
      guard alpha == .unassociated || (photometric != .palette && photometric != .minIsWhite) else { continue }
      for isSeparate in [false, true] {
        Self.check(
          TIFFPicture(photometric: photometric, compression: .lzw, bits: bits, isSeparate: isSeparate, alpha: alpha),
          tolerance: 1.6)
      }
    }
  }

  @Test(arguments: [false, true]) func aFourthSampleOfWhichNothingIsSaidIsAlpha(_ isSeparate: Bool) {
    Self.check(
      TIFFPicture(compression: .lzw, isSeparate: isSeparate, alpha: .unassociated, hidesAlpha: true), tolerance: 1.6)
  }

  @Test func samplesOfWhichNothingIsSaidAreNotShown() {
    for photometric in [TIFFPicture.Photometric.minIsBlack, .rgb, .cmyk] {
      for isSeparate in [false, true] {
        Self.check(TIFFPicture(photometric: photometric, isSeparate: isSeparate, others: 2))
      }
    }
  }

  @Test(arguments: [1, 2, 4, 8]) func indicesAreLookedUp(_ bits: Int) {
    for compression in [TIFFPicture.Compression.none, .packBits] {
      Self.check(TIFFPicture(photometric: .palette, compression: compression, bits: bits))
    }
  }

  @Test func faxesAreDecoded() {
    for compression in [TIFFPicture.Compression.group3, .group4] {
      for photometric in [TIFFPicture.Photometric.minIsWhite, .minIsBlack] {
        for pieces in [TIFFPicture.Pieces.strips(5), .strips(33)] {
          Self.check(TIFFPicture(photometric: photometric, compression: compression, bits: 1, pieces: pieces))
        }
      }
    }
  }

  @Test func predictorsAndFillOrderAreUndone() {
    for compression in [TIFFPicture.Compression.lzw, .deflate, .zstd] {
      for bits in [8, 16, 32] { Self.check(TIFFPicture(compression: compression, bits: bits, predictor: 2)) }
      Self.check(TIFFPicture(compression: compression, bits: 32, format: .real, predictor: 3))
    }
    for bits in [1, 4, 8, 16] {
      for compression in [TIFFPicture.Compression.none, .packBits] {
        Self.check(
          TIFFPicture(photometric: .minIsBlack, compression: compression, bits: bits, hasReversedBits: true))
      }
    }
  }

  /// Strips that are too large to be decoded as a whole.
  @Test(arguments: lossless) func largeStripsAreDecodedRowByRow(_ compression: TIFFPicture.Compression) {
    let size = PixelSize(width: 620, height: 300)
    for isSeparate in [false, true] {
      for alpha in [nil, TIFFPicture.Alpha.unassociated] {
        Self.check(
          TIFFPicture(
            size: size, compression: compression, bits: isSeparate ? 32 : 8, pieces: .strips(300),
            isSeparate: isSeparate, alpha: alpha), shrinks: [20])
      }
    }
  }

  /// Strips of more than 4 MiB, most of which are samples that are not shown.
  static let streamed: [TIFFPicture] = [TIFFPicture.Compression.lzw, .deflate].flatMap { compression in
    let size = PixelSize(width: 440, height: 430)
    let pieces = TIFFPicture.Pieces.strips(430)
    return [
      TIFFPicture(size: size, compression: compression, pieces: pieces, others: 21),
      TIFFPicture(size: size, compression: compression, pieces: .strips(425), others: 21, predictor: 2),
      TIFFPicture(
        size: size, compression: compression, bits: 16, pieces: pieces, others: 9, predictor: 2, isBigEndian: true),
      TIFFPicture(
        size: PixelSize(width: 740, height: 720), compression: compression, bits: 64, pieces: .strips(720),
        isSeparate: true),
      // By libtiff.
      TIFFPicture(size: size, compression: compression, bits: 32, pieces: pieces, others: 3, predictor: 2),
    ]
  }

  @Test(arguments: streamed.indices) func largeStripsAreDecompressedInPieces(_ index: Int) {
    Self.check(Self.streamed[index], shrinks: [20])
  }

  /// Where the number of bytes of the only strip is, in a little-endian file.
  private static func stripByteCount(in file: [UInt8]) throws -> Range<Int> {
    let directory = Int(TIFFPicture.directory(of: file))
    let entry = stride(from: directory + 2, to: file.count, by: 12).first { file[$0..<$0 + 2] == [23, 1] }
    let start = try #require(entry) + 8
    return start..<start + 4
  }

  /// A strip without its Adler-32 checksum, and one that lacks the mark of its last block's end too. Then the last row,
  /// which is read on its own here, is still in zlib when the strip ends.
  @Test func aLargeStripNeedsNoChecksum() throws {
    let size = PixelSize(width: 10, height: (64 << 10) / 30 * 67 + 1)
    let picture = TIFFPicture(size: size, compression: .deflate, pieces: .strips(size.height))
    var recipe = picture.recipe
    var file = TIFFPicture.write(&recipe, [UInt8](repeating: 9, count: size.count * 3), size.width * 3)
    let place = try Self.stripByteCount(in: file)
    let count = file[place].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    for cut: UInt32 in [4, 5] {
      file.replaceSubrange(place, with: (0..<4).map { UInt8(truncatingIfNeeded: (count - cut) >> ($0 * 8)) })
      let planes = picture.planes(of: file, shrink: 20).decoded()
      #expect(planes.status == CDECODING_OK, "\(planes.message)")
    }
  }

  @Test(arguments: [0, 5]) func damageInALargeStripIsFound(_ index: Int) throws {
    let picture = Self.streamed[index]
    let file = picture.file()
    var broken = file
    for index in 70_000..<70_400 { broken[index] = 0xFF }
    #expect(picture.planes(of: broken, shrink: 20).decoded().status == CDECODING_DAMAGED)
    // A strip that is said to have fewer bytes.
    let place = try Self.stripByteCount(in: file)
    for count in [1, 100] as [UInt8] {
      broken = file
      broken.replaceSubrange(place, with: [count, count, 0, 0])
      let planes = picture.planes(of: broken, shrink: 20).decoded()
      #expect(planes.status == CDECODING_DAMAGED)
      #expect(planes.message.contains("too few"), "\(planes.message)")
    }
  }

  // MARK: Colours

  /// Luma and chroma in blocks, uncompressed and compressed.
  @Test(arguments: [(1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (1, 2)]) func chromaIsBroughtToPixels(
    _ subsampling: (Int, Int)
  ) {
    let (across, down) = subsampling
    for compression in [TIFFPicture.Compression.none, .lzw] {
      var recipe = TIFFPicture(compression: compression, pieces: .strips(8)).recipe
      (recipe.photometric, recipe.across, recipe.down) = (6, UInt16(across), UInt16(down))
      let columns = (45 + across - 1) / across
      // Luma rises with the row, and red falls with the column.
      var rows: [UInt8] = []
      for blockRow in 0..<(33 + down - 1) / down {
        for column in 0..<columns {
          for index in 0..<across * down { rows.append(UInt8(60 + 3 * (blockRow * down + index / across))) }
          rows += [128, UInt8(150 - 40 * column / columns)]
        }
      }
      let file = TIFFPicture.write(&recipe, rows, columns * (across * down + 2))
      let decoded = TIFFPicture().planes(of: file, shrink: 1).decoded()
      #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
      guard decoded.status == CDECODING_OK else { continue }
      for (x, y) in [(0, 0), (44, 0), (0, 32), (44, 32), (20, 17)] {
        let luma = Double(60 + 3 * y)
        let difference = Double(150 - 40 * (x / across) / columns - 128)
        let expected = [luma + 1.402 * difference * 255 / 254, luma - 0.714136 * difference, luma]
        for color in 0..<3 {
          let found = Double(decoded.plane(color)[y * 45 + x])
          #expect(abs(found - expected[color]) <= 1.5, "\(x) \(y)")
        }
      }
    }
  }

  /// Colours of sRGB, whose L*a*b* relative to D50 was computed elsewhere.
  @Test(
    arguments: [
      ([50.54, 47.88, 37.17], [200, 80, 60]), ([58.81, -42.27, 27.5], [60, 160, 90]),
      ([33.7, 22.84, -62.02], [50, 70, 180]), ([87.02, -6.2, 49.94], [230, 220, 120]),
      ([100, 0, 0], [255, 255, 255]), ([0, 0, 0], [0, 0, 0]),
    ] as [([Double], [Int])])
  func labBecomesRGB(_ lab: [Double], _ rgb: [Int]) {
    for (photometric, bits) in [(TIFFPicture.Photometric.lab, 8), (.lab, 16), (.iccLab, 8), (.iccLab, 16)] {
      var recipe = TIFFPicture(photometric: photometric, bits: bits).recipe
      let isSigned = photometric == .lab
      let unit: Double = bits == 16 ? 256 : 1
      let full: Double = bits == 8 ? 255 : isSigned ? 65535 : 65280
      let samples = [
        lab[0] / 100 * full, lab[1] * unit + (isSigned ? 0 : 128 * unit), lab[2] * unit + (isSigned ? 0 : 128 * unit),
      ]
      var pixel: [UInt8] = []
      for sample in samples {
        let number = UInt16(truncatingIfNeeded: Int(sample.rounded()))
        pixel += bits == 8 ? [UInt8(truncatingIfNeeded: number)] : withUnsafeBytes(of: number) { Array($0) }
      }
      let row = [[UInt8]](repeating: pixel, count: 45).flatMap { $0 }
      let file = TIFFPicture.write(&recipe, [[UInt8]](repeating: row, count: 33).flatMap { $0 }, row.count)
      let decoded = TIFFPicture().planes(of: file, shrink: 5).decoded()
      #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
      for color in 0..<3 { #expect(abs(Int(decoded.plane(color)[20]) - rgb[color]) <= 4, "\(photometric) \(bits)") }
    }
  }
}
