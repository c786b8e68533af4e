import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct GIFHeaderTests {
  private func header(_ bytes: [UInt8]) throws -> PictureHeader {
    try GIFHeader.read(FileWindow(ByteReader(bytes: bytes)))
  }

  private func failure(_ bytes: [UInt8]) -> ThumbnailError? {
    do {
      _ = try header(bytes)
      return nil
    } catch { return error as? ThumbnailError }
  }

  @Test func theSizeIsThatOfTheScreenEnlargedForTheFirstFrame() throws {
    #expect(try header(TestGIF().bytes).pixels == PixelSize(width: 9, height: 7))
    #expect(
      try header(TestGIF(screen: (20, 15), frame: (4, 3, 9, 7)).bytes).pixels == PixelSize(width: 20, height: 15))
    #expect(try header(TestGIF(screen: (5, 15), frame: (2, 1, 9, 7)).bytes).pixels == PixelSize(width: 11, height: 15))
    #expect(try header(TestGIF(screen: (0, 0)).bytes).pixels == PixelSize(width: 9, height: 7))
    let header = try header(TestGIF(hasGlobalTable: false, hasLocalTable: true).bytes)
    #expect(header.components == .rgb)
    #expect(header.type == .gif)
    #expect(header.coding == .gif)
    #expect(header.color == .unknown)
  }

  @Test func itHasAlphaIfAColorIsTransparentOrTheFrameLeavesSpace() throws {
    #expect(try !header(TestGIF().bytes).hasAlpha)
    #expect(try header(TestGIF(transparent: 0).bytes).hasAlpha)
    #expect(try header(TestGIF(screen: (10, 7)).bytes).hasAlpha)
    #expect(try header(TestGIF(frame: (1, 0, 9, 7)).bytes).hasAlpha)
  }

  @Test func anAnimationIsRemarked() throws {
    var gif = TestGIF()
    #expect(try header(gif.bytes).remarks == [])
    gif.blocks = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    #expect(try header(gif.bytes).remarks == ["only the first frame of an animation is shown"])
    gif.blocks = [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + TestGIF.blocks(of: [UInt8](repeating: 1, count: 5000))
    #expect(try header(gif.bytes).remarks == [])
  }

  @Test func aFileThatIsCutOffBeforeItsFrameIsTruncated() throws {
    var gif = TestGIF(transparent: 3)
    gif.blocks = [0x21, 0xFE] + TestGIF.blocks(of: [UInt8](repeating: 0x41, count: 6000))
    let bytes = gif.bytes
    let descriptor = 13 + 24 + gif.blocks.count + 8
    for length in 0..<descriptor + 10 {
      #expect(failure(Array(bytes[..<length])) == .truncated("the file ends too early"), "\(length)")
    }
    for length in descriptor + 10...bytes.count { #expect(failure(Array(bytes[..<length])) == nil) }
  }

  @Test func wrongHeadersAreRefused() {
    func changed(_ place: Int, _ value: UInt8) -> ThumbnailError? {
      var bytes = TestGIF().bytes
      bytes[place] = value
      return failure(bytes)
    }
    #expect(changed(0, 0) == .damaged("the file does not begin as a GIF"))
    #expect(changed(37, 0) == .damaged("no block begins where one should"))
    #expect(changed(37, 0x3B) == .damaged("the file has no picture"))
    #expect(failure(TestGIF(frame: (0, 0, 9, 0)).bytes) == .damaged("the first frame has no pixels"))
    #expect(failure(TestGIF(hasGlobalTable: false).bytes) == nil)
  }

  @Test func aFileOfCommentsIsNotReadToItsEnd() {
    // A comment of blocks of 255 bytes each.
    let comment: [UInt8] = [0x21, 0xFE] + [UInt8](repeating: 255, count: 17 << 20)
    let start = Array(TestGIF().bytes[..<37])
    #expect(failure(start + comment) == .damaged("there is no picture in the first 16 MiB"))
  }
}
