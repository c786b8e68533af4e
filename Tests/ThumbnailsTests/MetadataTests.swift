import TestSupport
import Testing

@testable import Thumbnails

@Suite struct MetadataTests {
  private static func source(_ exif: TestExif) -> [UInt8] {
    var source = TestJPEG.grey(40, 30) { _, _ in 100 }
    source.segments.append(exif.segment)
    return source.bytes()
  }

  private static let rich = TestExif(
    orientation: 6, artist: "Ada Somebody", copyright: "(c) Ada", software: "Camera 1.0",
    preview: Array("PREVIEW BYTES".utf8))

  private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    let words = Array(text.utf8)
    return bytes.indices.contains { bytes[$0...].starts(with: words) }
  }

  @Test func noMetadataIsKeptUnlessRequested() throws {
    let made = try thumbnail(of: Self.source(Self.rich), "20")
    #expect(made.exif.isEmpty)
  }

  /// Of any type that an orientation may have: SHORT, LONG or SLONG.
  @Test(arguments: [true, false], [3, 4, 9]) func keptExifIsUprightAndWithoutPreview(
    _ isBigEndian: Bool, _ type: Int
  ) throws {
    var exif = Self.rich
    (exif.isBigEndian, exif.orientationType) = (isBigEndian, type)
    let made = try thumbnail(of: Self.source(exif), "20") { $0.keep = .exif }
    #expect(made.exif.withUnsafeBufferPointer(ExifOrientation.read) == .upright)
    for text in ["Ada Somebody", "(c) Ada", "Camera 1.0"] { #expect(Self.contains(made.exif, text)) }
    #expect(!Self.contains(made.exif, "PREVIEW"))
    // The maker has turned the picture by the source's orientation; a viewer must not turn it again.
    #expect(made.pixels == PixelSize(width: 15, height: 20))
  }

  /// The kept pixel counts are the thumbnail's, because the camera's would be wrong.
  @Test func keptPixelCountsAreTheThumbnails() throws {
    // IFD 0 points to the Exif IFD, which has both counts: one as SHORT, one as LONG (Exif 2.32, 4.6.5).
    func entry(_ tag: Int, _ type: Int, _ value: [UInt8]) -> [UInt8] {
      [UInt8(tag >> 8), UInt8(tag & 255), 0, UInt8(type), 0, 0, 0, 1] + value
    }
    let block: [UInt8] =
      Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1] + entry(0x8769, 4, [0, 0, 0, 26]) + [0, 0, 0, 0, 0, 2]
      + entry(0xA002, 3, [0x0F, 0xA0, 0, 0]) + entry(0xA003, 4, [0, 0, 0x0B, 0xB8]) + [0, 0, 0, 0]
    var source = TestJPEG.grey(40, 30) { _, _ in 100 }
    source.segments.append(TestJPEG.segment(.app1, Array("Exif\0\0".utf8) + block))
    let exif = try thumbnail(of: source.bytes(), "20") { $0.keep = .exif }.exif
    func find(_ bytes: [UInt8]) -> Bool { exif.indices.contains { exif[$0...].starts(with: bytes) } }
    #expect(find(entry(0xA002, 3, [0, 20])))
    #expect(find(entry(0xA003, 4, [0, 0, 0, 15])))
  }

  @Test func thePlaceOfAPhotoIsKeptOnlyOnRequest() throws {
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
      [UInt8(tag >> 8), UInt8(tag & 255), 0, UInt8(type), 0, 0, 0, UInt8(count)] + value
    }
    func offset(_ offset: Int) -> [UInt8] { [0, 0, 0, UInt8(offset)] }
    // IFD 0 at 8 with Software and pointers, the Exif IFD at 50 with the maker's notes, the GPS IFD at 68 with a reference
    // and a date (Exif 2.32, 4.6.6), the notes at 98, the date at 106.
    let block: [UInt8] =
      Array("MM\0*".utf8) + offset(8) + [0, 3] + entry(0x0131, 2, 4, Array("Cam\0".utf8))
      + entry(0x8769, 4, 1, offset(50)) + entry(0x8825, 4, 1, offset(68)) + offset(0)
      + [0, 1] + entry(0x927C, 7, 8, offset(98)) + offset(0)
      + [0, 2] + entry(1, 2, 2, Array("N\0\0\0".utf8)) + entry(0x1D, 2, 11, offset(106)) + offset(0)
      + Array("LONGYEAR2026:11:22\0".utf8)
    var source = TestJPEG.grey(40, 30) { _, _ in 100 }
    source.segments.append(TestJPEG.segment(.app1, Array("Exif\0\0".utf8) + block))
    #expect(KeptMetadata.exif.rawValue & 2 == 0, "it stood for the block with the place")
    for (keep, keepsPlace) in [(KeptMetadata.exif, false), (.gps, true), ([.exif, .gps], true)] {
      let made = try thumbnail(of: source.bytes(), "20") { $0.keep = keep }
      #expect(Self.contains(made.exif, "Cam"))
      for text in ["LONGYEAR", "2026:11:22"] { #expect(Self.contains(made.exif, text) == keepsPlace, "\(text)") }
    }
  }

  @Test func keepingCopyrightKeepsNothingElse() throws {
    let made = try thumbnail(of: Self.source(Self.rich), "20") { $0.keep = .copyright }
    for text in ["Ada Somebody", "(c) Ada"] { #expect(Self.contains(made.exif, text)) }
    for text in ["Camera 1.0", "PREVIEW"] { #expect(!Self.contains(made.exif, text)) }
  }

  @Test func copyrightIsInEverySize() throws {
    var found: [Bool] = []
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "9"), try SizeSpec(parsing: "8")], keep: .copyright)
    for bytes in try thumbnails(of: Self.source(Self.rich), options) {
      found.append(Self.contains(try Picture(bytes).exif, "(c) Ada"))
    }
    #expect(found == [true, true])
  }

  @Test func aSourceWithoutCopyrightGetsNoBlock() throws {
    let made = try thumbnail(of: Self.source(TestExif(orientation: 3, software: "Camera")), "20") {
      $0.keep = .copyright
    }
    #expect(made.exif.isEmpty)
  }

  @Test func brokenExifNeverBreaksAThumbnail() throws {
    let segment = Self.rich.segment
    var random = SplitMix(seed: 3)
    let maker = ThumbnailMaker()
    for round in 0..<400 {
      var broken = segment
      for _ in 0..<4 {
        broken[4 + Int(random.next() % UInt64(broken.count - 4))] = UInt8(truncatingIfNeeded: random.next())
      }
      var source = TestJPEG.grey(16, 16) { _, _ in 100 }
      source.segments.append(broken)
      _ = try thumbnail(of: source.bytes(), "8", maker: maker) { $0.keep = round % 2 == 0 ? .exif : .copyright }
    }
  }

  @Test func circularExifIsLeftOutAtOnce() throws {
    // Each of thousands of entries points to the directory that contains it.
    let entry: [UInt8] = [0x69, 0x87, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0]
    let count = 5_400
    let block: [UInt8] =
      Array("II".utf8) + [42, 0, 8, 0, 0, 0, UInt8(count & 255), UInt8(count >> 8)]
      + (0..<count).flatMap { _ in entry } + [0, 0, 0, 0]
    #expect(block.withUnsafeBufferPointer { TIFFReader($0)?.isPlain(limit: 10_000) } == false)
    #expect(Self.rich.block.withUnsafeBufferPointer { TIFFReader($0)?.isPlain(limit: 1_000) } == true)
    var source = TestJPEG.grey(16, 16) { _, _ in 100 }
    source.segments.append(TestJPEG.segment(.app1, Array("Exif\0\0".utf8) + block))
    #expect(try thumbnail(of: source.bytes(), "8") { $0.keep = .exif }.exif.isEmpty)
  }
}
