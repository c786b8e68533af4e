import CDecoding
import TestSupport
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct PNGDecodingTests {
  /// The sample nearest to the mean; a little more because the sums are divided with 24 bits.
  private static let nearest = 0.501

  private func decode(
    _ png: TestPNG, bytes: [UInt8]? = nil, shrink: Int = 3, profileCapacity: Int = 0, stopAfter: Int? = nil,
    unreadableFrom: Int? = nil, change: (inout cdecoding_request) -> Void = { _ in }
  ) -> DecodedPlanes {
    DecodedPlanes(
      bytes ?? png.bytes, kind: CDECODING_PNG, width: png.width, height: png.height, planeCount: png.isGrey ? 1 : 3,
      shrink: shrink, profileCapacity: profileCapacity, stopAfter: stopAfter, unreadableFrom: unreadableFrom,
      change: change)
  }

  @Test(arguments: TestPNG.kinds, [false, true])
  func eachColorTypeAndBitDepthBecomesMeans(_ kind: (colorType: Int, bitDepth: Int), _ isInterlaced: Bool) {
    for isKeyed in kind.colorType < 4 ? [false, true] : [false] {
      // The smaller ones have no pixels in some of the passes.
      for (width, height) in [(13, 11), (1, 1), (4, 3), (2, 9), (33, 1)] {
        var png = TestPNG(
          width: width, height: height, colorType: kind.colorType, bitDepth: kind.bitDepth, isInterlaced: isInterlaced)
        if isKeyed { png.makeKeyed() }
        for shrink in [1, 2, 3, 5, 8, 128] {
          let decoded = decode(png, shrink: shrink)
          #expect(decoded.status == CDECODING_OK, "\(kind) \(width) × \(height): \(decoded.message)")
          #expect(decoded.warning == "")
          let error = decoded.largestError(width: width, height: height, shrink: shrink, pixel: png.pixel)
          // Alpha of 16 bits is rounded before it is multiplied.
          let allowed = kind.colorType >= 4 && kind.bitDepth == 16 ? 1 : Self.nearest
          #expect(error <= allowed, "\(kind), keyed \(isKeyed), \(width) × \(height), shrink \(shrink)")
        }
      }
    }
  }

  @Test func theProfileIsInflatedBehindThePlanes() {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    let profile = Self.profile(size: 400)
    png.first = [("iCCP", Array("name\0\0".utf8) + TestPNG.stored(profile))]
    #expect(decode(png, profileCapacity: 400).profile == profile)
    #expect(decode(png, profileCapacity: 400).warning == "")
    let smaller = decode(png, profileCapacity: 399)
    #expect(smaller.status == CDECODING_OK)
    #expect(smaller.reply.profile_size == 0)
    #expect(smaller.warning == "the colour profile is ignored because it has more than 399 bytes")
    #expect(decode(png, profileCapacity: 0).reply.profile_size == 0)
    #expect(decode(png, profileCapacity: 0).warning == "")
  }

  @Test func aProfileThatClaimsToBeHugeIsNotAllocated() {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    var profile = Self.profile(size: 400)
    profile.replaceSubrange(0..<4, with: TestPNG.number(0x7FFF_FFFC))
    png.first = [("iCCP", Array("name\0\0".utf8) + TestPNG.stored(profile))]
    let decoded = decode(png, profileCapacity: 100_000)
    #expect(decoded.status == CDECODING_OK)
    #expect(decoded.warning == "the colour profile is ignored because it has more than 100000 bytes")
  }

  @Test func aDamagedProfileIsAWarning() {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.first = [("iCCP", Array("name\0\0".utf8) + [UInt8](repeating: 7, count: 60))]
    let decoded = decode(png, profileCapacity: 1000)
    #expect(decoded.status == CDECODING_OK)
    #expect(decoded.reply.profile_size == 0)
    #expect(decoded.warning.hasPrefix("iCCP: "))
  }

  /// Three empty tags, which libpng accepts.
  private static func profile(size: Int) -> [UInt8] {
    var profile = [UInt8](repeating: 0, count: size)
    func put(_ bytes: [UInt8], _ place: Int) { profile.replaceSubrange(place..<place + bytes.count, with: bytes) }
    put(TestPNG.number(size), 0)
    put([2, 0x40], 8)
    put(Array("mntrRGB XYZ ".utf8), 12)
    put(Array("acsp".utf8), 36)
    put(TestPNG.number(63190) + TestPNG.number(65536) + TestPNG.number(54061), 68)
    put(TestPNG.number(1) + Array("wtpt".utf8) + TestPNG.number(144) + TestPNG.number(20), 128)
    return profile
  }

  @Test(arguments: [false, true])
  func aFileThatIsCutOffIsTruncated(_ isInterlaced: Bool) {
    let png = TestPNG(colorType: 6, bitDepth: 8, isInterlaced: isInterlaced)
    let whole = png.bytes
    // At the end are the chunk IEND and the CRC of IDAT.
    let endOfRows = whole.count - 12 - 4
    for length in 0..<whole.count {
      let decoded = decode(png, bytes: Array(whole[..<length]))
      if length < endOfRows {
        #expect(decoded.status == CDECODING_TRUNCATED, "\(length): \(decoded.message)")
        #expect(decoded.message == "the file ends too early")
      } else {
        #expect(decoded.status == CDECODING_OK, "\(length): \(decoded.message)")
        // What follows IDAT is not read.
        #expect(decoded.warning == (length < whole.count - 12 ? "the file ends after the last row" : ""))
      }
    }
  }

  @Test func aWrongChecksumIsDamageInTheDataAndAWarningElsewhere() throws {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.before = [("tEXt", Array("Title\0text".utf8))]
    let whole = png.bytes
    var damaged = whole
    damaged[whole.count - 13] ^= 1
    #expect(decode(png, bytes: damaged).status == CDECODING_DAMAGED)
    #expect(decode(png, bytes: damaged).message == "IDAT: CRC error")
    damaged = whole
    let text = try #require(whole.indices.first { whole[$0...].starts(with: Array("Title".utf8)) })
    damaged[text] ^= 1
    #expect(decode(png, bytes: damaged).status == CDECODING_OK)
    #expect(decode(png, bytes: damaged).warning == "tEXt: CRC error")
  }

  /// Old encoders wrote a window of 256 bytes into the header of data that refers to bytes further back.
  @Test func dataMayReferToMoreThanTheWindowOfItsHeader() {
    let row = [0] + (0..<300).map { UInt8($0 * 7 & 0xFF) }
    // The header; a stored block with the first row; a block that repeats these 301 bytes; the checksum of both rows.
    let data: [UInt8] =
      [0x08, 0x1D] + [0, 0x2D, 0x01, 0xD2, 0xFE] + row + [0x1B, 0x0D, 0x2C, 0x12, 0x02, 0x0B, 0x00] + [
        0xDD, 0xD0, 0x24, 0xCC,
      ]
    let bytes =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + TestPNG.chunk("IHDR", TestPNG.number(300) + TestPNG.number(2) + [8, 0, 0, 0, 0])
      + TestPNG.chunk("IDAT", data) + TestPNG.chunk("IEND", [])
    let decoded = DecodedPlanes(bytes, kind: CDECODING_PNG, width: 300, height: 2, planeCount: 1, shrink: 1)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    let error = decoded.largestError(width: 300, height: 2, shrink: 1) { x, _ in ([Double(row[1 + x])], 255) }
    #expect(error <= Self.nearest)
  }

  @Test func aLongChunkOfTextIsPassedOver() {
    var png = TestPNG(colorType: 0, bitDepth: 8)
    png.before = [("iTXt", [UInt8](repeating: 0x41, count: 9_000_000))]
    let decoded = decode(png)
    #expect(decoded.status == CDECODING_OK)
    #expect(decoded.warning == "")
    #expect(decoded.largestError(width: 13, height: 11, shrink: 3, pixel: png.pixel) <= Self.nearest)
  }

  @Test func theDefaultImageOfAnAnimationIsDecoded() {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.before = [("acTL", TestPNG.number(2) + TestPNG.number(0)), ("fcTL", [UInt8](repeating: 0, count: 26))]
    png.after = [("fcTL", [1]), ("fdAT", TestPNG.number(2) + [1, 2, 3])]
    let decoded = decode(png)
    #expect(decoded.status == CDECODING_OK)
    #expect(decoded.warning == "")
    #expect(decoded.largestError(width: 13, height: 11, shrink: 3, pixel: png.pixel) <= Self.nearest)
  }

  @Test func decodingCanBeCancelled() {
    let png = TestPNG(width: 3, height: 500, colorType: 2, bitDepth: 8)
    for calls in 0..<8 {
      let decoded = decode(png, stopAfter: calls)
      #expect(decoded.status == CDECODING_CANCELLED)
    }
    // One call for the buffer, and one for every 64 rows.
    #expect(decode(png, stopAfter: 8).status == CDECODING_OK)
  }

  @Test func aFileThatCannotBeReadIsNotTruncated() {
    let png = TestPNG(colorType: 2, bitDepth: 8)
    #expect(decode(png, unreadableFrom: 100).status == CDECODING_READ_FAILED)
  }

  @Test func aPictureOfAnotherSizeThanAskedForIsDamaged() {
    let png = TestPNG(colorType: 2, bitDepth: 8)
    let other = TestPNG(width: 12, colorType: 2, bitDepth: 8)
    #expect(decode(other, bytes: png.bytes).status == CDECODING_DAMAGED)
  }

  @Test func planesThatDoNotFitThePictureAreABadCall() {
    let png = TestPNG(colorType: 2, bitDepth: 8)
    #expect(decode(png) { $0.plane_count = 1 }.status == CDECODING_BAD_CALL)
    #expect(decode(png) { $0.planes.1.width = 12 }.status == CDECODING_BAD_CALL)
    #expect(decode(png) { $0.planes.2.offset = 1000 }.status == CDECODING_BAD_CALL)
    #expect(decode(png) { $0.profile_capacity = 1 }.status == CDECODING_BAD_CALL)
  }
}
