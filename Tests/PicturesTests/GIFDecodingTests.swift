import CDecoding
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct GIFDecodingTests {
  private static let nearest = 0.501

  private func decode(
    _ gif: TestGIF, bytes: [UInt8]? = nil, shrink: Int = 2, stopAfter: Int? = nil,
    change: (inout cdecoding_request) -> Void = { _ in }
  ) -> DecodedPlanes {
    let (width, height) = Self.size(gif)
    return DecodedPlanes(
      bytes ?? gif.bytes, kind: CDECODING_GIF, width: width, height: height, planeCount: 3, shrink: shrink,
      stopAfter: stopAfter, change: change)
  }

  private static func size(_ gif: TestGIF) -> (width: Int, height: Int) {
    (
      max(gif.screen.width, gif.frame.left + gif.frame.width),
      max(gif.screen.height, gif.frame.top + gif.frame.height)
    )
  }

  private func expectMeans(_ gif: TestGIF, _ comment: Comment? = nil) {
    let (width, height) = Self.size(gif)
    for shrink in [1, 2, 3, 128] {
      let decoded = decode(gif, shrink: shrink)
      #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
      #expect(decoded.warning == "")
      let error = decoded.largestError(width: width, height: height, shrink: shrink, pixel: gif.pixel)
      #expect(error <= Self.nearest, comment)
    }
  }

  @Test(arguments: [false, true], [nil, UInt8(3)])
  func rowsBecomeMeans(_ isInterlaced: Bool, _ transparent: UInt8?) {
    for height in [1, 3, 7, 8, 21] {
      for (hasGlobalTable, hasLocalTable) in [(true, false), (false, true), (true, true)] {
        expectMeans(
          TestGIF(
            screen: (9, height), frame: (0, 0, 9, height), isInterlaced: isInterlaced, hasGlobalTable: hasGlobalTable,
            hasLocalTable: hasLocalTable, transparent: transparent), "height \(height)")
      }
    }
  }

  @Test(arguments: [nil, UInt8(3)])
  func theScreenIsTransparentAroundTheFrame(_ transparent: UInt8?) {
    expectMeans(TestGIF(screen: (20, 15), frame: (4, 3, 9, 7), transparent: transparent))
    expectMeans(TestGIF(screen: (20, 7), frame: (11, 0, 9, 7), transparent: transparent))
  }

  @Test func theScreenIsEnlargedForAFrameThatExceedsIt() {
    expectMeans(TestGIF(screen: (5, 5), frame: (2, 1, 9, 7)))
    expectMeans(TestGIF(screen: (0, 0), frame: (0, 0, 9, 7)))
  }

  @Test func onlyTheExtensionBeforeTheFirstFrameMakesAColorTransparent() {
    var gif = TestGIF()
    let frame = gif.bytes.dropLast()
    gif.transparent = 3
    let second = gif.bytes.dropFirst(13 + 24)
    let decoded = decode(gif, bytes: Array(frame) + second, shrink: 1)
    gif.transparent = nil
    #expect(decoded.largestError(width: 9, height: 7, shrink: 1, pixel: gif.pixel) <= Self.nearest)
  }

  @Test func commentsAndOtherExtensionsArePassedOver() {
    var gif = TestGIF(transparent: 2)
    gif.blocks =
      [0x21, 0xFE] + TestGIF.blocks(of: [UInt8](repeating: 0x2C, count: 70_000))
      + [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    expectMeans(gif)
  }

  @Test(arguments: [false, true])
  func aFileThatIsCutOffIsTruncated(_ isInterlaced: Bool) {
    let gif = TestGIF(screen: (30, 20), frame: (0, 0, 30, 20), isInterlaced: isInterlaced, transparent: 1)
    let whole = gif.bytes
    for length in 0..<whole.count {
      let decoded = decode(gif, bytes: Array(whole[..<length]))
      // The last bytes are the end of the data's blocks and that of the file.
      if length < whole.count - 2 {
        #expect(decoded.status == CDECODING_TRUNCATED, "\(length): \(decoded.message)")
        #expect(decoded.message == "the file ends too early")
      } else {
        #expect(decoded.status == CDECODING_OK, "\(length): \(decoded.message)")
        #expect(decoded.warning == (length == whole.count - 2 ? "the file ends after the last row" : ""))
      }
    }
  }

  /// A block of data begins after the last pixel, and the file ends within it.
  @Test(arguments: [false, true])
  func aFileThatEndsAfterItsLastPixelIsWhole(_ isInterlaced: Bool) {
    let gif = TestGIF(isInterlaced: isInterlaced)
    let bytes = Array(gif.bytes.dropLast(2)) + [20, 1, 2, 3]
    let decoded = decode(gif, bytes: bytes, shrink: 1)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    #expect(decoded.warning == "the file ends after the last row")
    let (width, height) = Self.size(gif)
    #expect(decoded.largestError(width: width, height: height, shrink: 1, pixel: gif.pixel) <= Self.nearest)
  }

  @Test func damageIsNotTruncation() {
    let gif = TestGIF()
    let whole = gif.bytes
    let data = whole.count - 2 - 37
    // A code that is not in the table yet.
    var damaged = whole
    damaged[data] = 0xFF
    #expect(decode(gif, bytes: damaged).status == CDECODING_DAMAGED)
    // The end of the codes before that of the picture.
    damaged = whole
    damaged[data + 5] = 0x99
    #expect(decode(gif, bytes: damaged).status == CDECODING_TRUNCATED)
    // No block begins with this byte.
    damaged = whole
    damaged[13 + 24] = 0x11
    #expect(decode(gif, bytes: damaged).status == CDECODING_DAMAGED)
    #expect(decode(gif, bytes: damaged).message == "no block begins where one should")
  }

  /// Black, white, and dark greys for the other indices.
  @Test func aFrameWithoutColourTableIsShown() { expectMeans(TestGIF(hasGlobalTable: false)) }

  @Test func aFrameWithoutPixelsIsDamaged() {
    #expect(decode(TestGIF(frame: (0, 0, 0, 7))).status == CDECODING_DAMAGED)
    let empty = Array(TestGIF().bytes[..<37]) + [0x3B]
    #expect(decode(TestGIF(), bytes: empty).message == "the file has no picture")
  }

  @Test func decodingCanBeCancelled() {
    let gif = TestGIF(screen: (3, 300), frame: (0, 0, 3, 300))
    for calls in 0..<6 { #expect(decode(gif, stopAfter: calls).status == CDECODING_CANCELLED) }
    // One call for the buffer, and one for every 64 rows.
    #expect(decode(gif, stopAfter: 6).status == CDECODING_OK)
  }

  @Test func aRequestForAnotherPictureFails() {
    let gif = TestGIF()
    #expect(decode(gif) { $0.width = 8 }.status == CDECODING_DAMAGED)
    #expect(decode(gif) { $0.plane_count = 1 }.status == CDECODING_BAD_CALL)
  }
}
