import TestSupport
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct CanonRawFileTests {
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xD9]
  private static let head = TestHEIF.box("ftyp", Array("crx ".utf8) + [0, 0, 0, 1] + Array("crx isom".utf8))

  private static func identified(_ identifier: [UInt8], _ contents: [UInt8]) -> [UInt8] {
    TestHEIF.box("uuid", identifier + contents)
  }

  private static let metadata: [UInt8] = [
    0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
  ]
  private static let preview: [UInt8] = [
    0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
  ]
  /// A directory with one entry: an orientation of 8.
  private static let tags: [UInt8] = [
    0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
  ]

  @Test func allPreviewsAreFound() throws {
    let zeros = [UInt8](repeating: 0, count: 16)
    let inside = Self.identified(
      Self.metadata, TestHEIF.box("CMT1", Self.tags) + TestHEIF.box("THMB", zeros + Self.jpeg + [1]))
    let after = Self.identified(
      Self.preview, [0, 0, 0, 0, 0, 0, 0, 1] + TestHEIF.box("PRVW", zeros + Self.jpeg + [2]))
    let bytes = TestMovie.file(
      tracks: [
        TestMovie.Track(codec: "CRAW", width: 6000, height: 4000, sample: Self.jpeg + [3]),
        TestMovie.Track(codec: "CRAW", width: 6288, height: 4056, sample: [0xFF, 1, 0, 0]),
      ], before: Self.head, inside: inside, after: after)
    #expect(CanonRawFile.isCanonRaw(bytes))
    let raw = try CanonRawFile(FileWindow(ByteReader(bytes: bytes)))
    let previews = raw.previews.map { Array(bytes[Int($0.offset)..<Int($0.offset + $0.size)]) }
    #expect(previews == [Self.jpeg + [3], Self.jpeg + [2], Self.jpeg + [1]])
    #expect(raw.orientation == .rotated270)
    #expect(raw.pixels == PixelSize(width: 6288, height: 4056))
    let exif = try #require(raw.exif)
    #expect(Array(bytes[Int(exif.offset)..<Int(exif.offset + exif.size)]) == Self.tags)
  }

  /// A file that is cut off never traps, and says so if `moov` is not whole.
  @Test func aFileThatIsCutOffIsTruncated() throws {
    let bytes = TestMovie.file(
      tracks: [TestMovie.Track(codec: "CRAW", width: 6000, height: 4000, sample: Self.jpeg)], before: Self.head)
    for count in Self.head.count + 8..<bytes.count - 12 {
      #expect(throws: ThumbnailError.truncated("the file ends too early")) {
        try CanonRawFile(FileWindow(ByteReader(bytes: Array(bytes.prefix(count)))))
      }
    }
    let withoutSample = Array(bytes.dropLast(4))
    #expect(try CanonRawFile(FileWindow(ByteReader(bytes: withoutSample))).previews.isEmpty)
  }
}
