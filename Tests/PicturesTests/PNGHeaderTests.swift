import TestSupport
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct PNGHeaderTests {
  private func header(_ bytes: [UInt8]) throws -> PictureHeader {
    try PNGHeader.read(FileWindow(ByteReader(bytes: bytes)))
  }

  private func failure(_ bytes: [UInt8]) -> ThumbnailError? {
    do {
      _ = try header(bytes)
      return nil
    } catch { return error as? ThumbnailError }
  }

  @Test func sizeAndKindAreThoseOfIHDR() throws {
    for (colorType, bitDepth) in TestPNG.kinds {
      var png = TestPNG(width: 300, height: 200, colorType: colorType, bitDepth: bitDepth)
      let header = try header(png.bytes)
      #expect(header.pixels == PixelSize(width: 300, height: 200))
      #expect(header.components == (png.isGrey ? .grey(.full) : .rgb))
      #expect(header.hasAlpha == (colorType >= 4))
      #expect(header.type == .png)
      #expect(header.coding == .png(at: 0))
      #expect(header.color == .unknown)
      #expect(header.remarks == [])
      guard colorType < 4 else { continue }
      png.makeKeyed()
      #expect(try self.header(png.bytes).hasAlpha)
    }
  }

  private static let cicp = ("cICP", [12, 13, 0, 1] as [UInt8])
  private static let iccp = ("iCCP", Array("name\0\0".utf8) + [UInt8](repeating: 1, count: 20))
  private static let srgb = ("sRGB", [0] as [UInt8])
  private static let gama = ("gAMA", TestPNG.number(50_000))
  private static let displayP3 = [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000]
  private static let chrm = ("cHRM", displayP3.flatMap(TestPNG.number))

  private func color(_ chunks: [(String, [UInt8])]) throws -> ColorDescription {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.first = chunks.map { (type: $0.0, data: $0.1) }
    return try header(png.bytes).color
  }

  @Test func ofTheChunksAboutColorTheOneWithTheHighestPriorityCounts() throws {
    let all = [Self.chrm, Self.gama, Self.srgb, Self.iccp, Self.cicp]
    #expect(try color(all) == .numbered(primaries: 12, transfer: 13))
    #expect(try color(all.dropLast(1)) == .compressedProfile(longest: 2600))
    #expect(try color(all.dropLast(2)) == .sRGB)
    #expect(
      try color(all.dropLast(3))
        == .power(2, chromaticities: [0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06]))
    #expect(try color(all.dropLast(4)) == .unknown)
    #expect(try color([Self.gama]) == .power(2, chromaticities: nil))
  }

  @Test func theGammaOfSRGBStandsForSRGB() throws {
    #expect(try color([("gAMA", TestPNG.number(45_455))]) == .sRGB)
    #expect(try color([("gAMA", TestPNG.number(45_455)), Self.chrm]) != .sRGB)
    #expect(try color([("gAMA", TestPNG.number(100_000))]) == .power(1, chromaticities: nil))
  }

  @Test func chunksAboutColorThatAreWrongAreIgnored() throws {
    #expect(try color([("gAMA", TestPNG.number(0))]) == .unknown)
    #expect(try color([("gAMA", TestPNG.number(1))]) == .unknown)
    #expect(try color([("gAMA", [1, 2])]) == .unknown)
    #expect(try color([("cHRM", [UInt8](repeating: 0, count: 32)), Self.gama]) == .power(2, chromaticities: nil))
    #expect(try color([("cICP", [1, 13, 1, 1])]) == .unknown)
    #expect(try color([("cICP", [1, 13, 0])]) == .unknown)
    #expect(try color([("iCCP", [65, 0, 0, 1])]) == .unknown)
    var png = TestPNG(colorType: 3, bitDepth: 8)
    png.before = [(type: "sRGB", data: [0])]
    #expect(try header(png.bytes).color == .unknown)
  }

  @Test func greyMayHaveALimitedRange() throws {
    var png = TestPNG(colorType: 0, bitDepth: 8)
    png.first = [(type: "cICP", data: [1, 13, 0, 0])]
    #expect(try header(png.bytes).components == .grey(.limited))
    png.colorType = 2
    #expect(try header(png.bytes).remarks == ["the limited range of its samples is not expanded"])
  }

  private static let exif: [UInt8] =
    [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]

  @Test func exifIsFoundBeforeAndAfterTheData() throws {
    for prefix in [[], Array("Exif\0\0".utf8)] {
      for isAfter in [false, true] {
        var png = TestPNG(colorType: 2, bitDepth: 8)
        let chunk = (type: "eXIf", data: prefix + Self.exif)
        if isAfter { png.after = [(type: "tEXt", data: [65]), chunk] } else { png.before = [chunk] }
        let bytes = png.bytes
        let header = try header(bytes)
        #expect(header.orientation == .rotated90)
        let extent = try #require(header.exif)
        #expect(Array(bytes[Int(extent.offset)...].prefix(Int(extent.size))) == Self.exif)
      }
    }
  }

  @Test func damageAfterTheDataIsNoReasonToFail() throws {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.after = [(type: "eXIf", data: Self.exif)]
    let bytes = png.bytes
    for length in bytes.count - 12 - 12 - Self.exif.count..<bytes.count {
      #expect(try header(Array(bytes[..<length])).pixels.width == 13)
    }
  }

  @Test func anAnimationIsRemarked() throws {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.before = [(type: "acTL", data: TestPNG.number(12) + TestPNG.number(0))]
    #expect(try header(png.bytes).remarks == ["its default image is shown, and none of 12 frames"])
    png.before.append((type: "fcTL", data: [UInt8](repeating: 0, count: 26)))
    #expect(try header(png.bytes).remarks == ["only the first of 12 frames is shown"])
    png.before[0].data = TestPNG.number(1) + TestPNG.number(0)
    #expect(try header(png.bytes).remarks == [])
  }

  @Test func aFileThatIsCutOffBeforeItsDataIsTruncated() throws {
    var png = TestPNG(colorType: 3, bitDepth: 4)
    png.first = [Self.cicp, Self.iccp, Self.gama, Self.chrm].map { (type: $0.0, data: $0.1) }
    png.before = [(type: "eXIf", data: Self.exif)]
    let bytes = png.bytes
    let data = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("IDAT".utf8)) })
    for length in 0..<data + 4 { #expect(failure(Array(bytes[..<length])) == .truncated("the file ends too early")) }
    for length in data + 4...bytes.count { #expect(failure(Array(bytes[..<length])) == nil) }
  }

  @Test func wrongHeadersAreRefused() {
    func changed(_ place: Int, _ value: UInt8) -> ThumbnailError? {
      var bytes = TestPNG(colorType: 2, bitDepth: 8).bytes
      bytes[place] = value
      return failure(bytes)
    }
    #expect(changed(0, 0) == .damaged("the file does not begin as a PNG"))
    #expect(changed(11, 12) == .damaged("IHDR has 12 bytes instead of 13"))
    #expect(changed(8, 0x80) == .damaged("no chunk begins where one should"))
    #expect(changed(12, 0x41) == .damaged("the first chunk is not IHDR"))
    #expect(changed(19, 0) == .damaged("the picture has no pixels"))
    #expect(changed(16, 1) == .unsupported("a picture of 16777229 × 11"))
    #expect(changed(24, 4) == .damaged("PNG has no colour type 2 with 4 bits"))
    #expect(changed(25, 5) == .damaged("PNG has no colour type 5 with 8 bits"))
    for place in 26...28 {
      #expect(changed(place, 2) == .unsupported("unknown compression, filter or interlace method"))
    }
    #expect(changed(25, 3) == .damaged("the palette is missing"))
    #expect(
      failure(PNGChunks.signature + TestPNG.chunk("CgBI", [0, 0, 0, 0]))
        == .unsupported("Apple's variant of PNG (CgBI)"))
    let noData = Array(TestPNG(colorType: 2, bitDepth: 8).bytes[..<33]) + TestPNG.chunk("IEND", [])
    #expect(failure(noData) == .damaged("there is no IDAT chunk"))
  }

  @Test func aFileOfEmptyChunksTakesLittleTime() {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.before = Array(repeating: (type: "teXt", data: []), count: PNGChunks.mostChunks)
    #expect(failure(png.bytes) == .damaged("more than 10000 chunks"))
    (png.before, png.after) = ([], png.before)
    #expect(failure(png.bytes) == nil)
  }
}
