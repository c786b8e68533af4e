import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// What cameras note, as the files of each format have it.
@Suite(.timeLimit(.minutes(1)))
struct PhotoFactsTests {
  private static let tags = TestTags(taken: "2024:07:14 18:03:12", offset: "+02:00", camera: "A  Camera\n")
  private static let date = "2024-07-14T18:03:12+02:00"

  private func facts(_ bytes: [UInt8], _ type: ImageType) -> PhotoFacts {
    PictureReader.readFacts(of: ByteReader(bytes: bytes), type: type)
  }

  private func expectAll(_ bytes: [UInt8], _ type: ImageType, _ location: SourceLocation = #_sourceLocation) {
    let facts = facts(bytes, type)
    #expect(facts.taken?.description == Self.date, sourceLocation: location)
    #expect(facts.camera == "A Camera", sourceLocation: location)
  }

  @Test func jpegAndPNGAndWebPHaveThemInABlock() {
    var photo = SyntheticPhoto(seed: 1, width: 40, height: 30)
    photo.tags = Self.tags
    expectAll(photo.jpeg(), .jpeg)
    var png = TestPNG(colorType: 2, bitDepth: 8)
    png.before = [(type: "eXIf", data: Self.tags.bytes)]
    expectAll(png.bytes, .png)
    let picture = WebPPicture()
    expectAll(
      WebPPicture.riff([
        WebPPicture.extended(0x08, picture.size), picture.chunks(), WebPPicture.chunk("EXIF", Self.tags.bytes),
      ]), .webp)
  }

  @Test func heicHasThemInAnItem() {
    var file = TestHEIF()
    file.primary = file.add(.hevcColors)
    let exif = file.add(TestHEIF.Item(type: "Exif", data: [0, 0, 0, 0] + Self.tags.bytes))
    file.refer("cdsc", from: exif, to: [file.primary])
    expectAll(file.bytes, .heic)
  }

  /// Exif's own directory counts before that of TIFF/EP.
  @Test(arguments: [true, false]) func tiffHasThemInItsDirectories(isBigEndian: Bool) {
    let inner = TestTIFF.Directory([(0x9003, .text("2024:07:14 18:03:12")), (0x9011, .text("+02:00"))])
    let page = TestTIFF.Directory.page(
      20, 10,
      [(0x0110, .text("A Camera ")), (0x9003, .text("2001:01:01 00:00:00")), (0x8769, .directories([inner]))])
    expectAll(TestTIFF([page], isBigEndian: isBigEndian).file(), .tiff)
    let plain = TestTIFF.Directory.page(20, 10, [(0x9003, .text("2001:01:01 00:00:00"))])
    let found = facts(TestTIFF([plain], isBigEndian: isBigEndian).file(), .tiff)
    #expect(found.taken?.description == "2001-01-01T00:00:00" && found.camera == nil)
  }

  @Test(
    arguments: [
      ("NEF", .nef), ("CR2", .cr2), ("ARW", .arw), ("DNG", .tiff), ("ORF", .orf), ("RW2", .rw2), ("PEF", .pef),
    ] as [(String, ImageType)]) func rawFilesHaveThemAsTIFFHas(kind: String, type: ImageType)
  {
    #expect(facts(TestCamera().file(kind), type).camera == "A Camera")
  }

  @Test func canonRawFilesHaveThemInTwoStructures() {
    let exif = TestTIFF([TestTIFF.Directory([(0x9003, .text("2024:07:14 18:03:12")), (0x9011, .text("+02:00"))])])
    let identifier: [UInt8] = [
      0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    let first = TestTags(camera: "A Camera")
    let inside = TestHEIF.box(
      "uuid", identifier + TestHEIF.box("CMT1", first.bytes) + TestHEIF.box("CMT2", exif.file()))
    let head = TestHEIF.box("ftyp", Array("crx ".utf8) + [0, 0, 0, 1] + Array("crx isom".utf8))
    expectAll(TestMovie.file(tracks: [], before: head, inside: inside), .cr3)
  }

  @Test(arguments: [
    "0000:00:00 00:00:00", "    :  :     :  :  ", "2024:13:01 00:00:00", "2023:02:29 00:00:00", "1900:02:29 00:00:00",
    "2024:04:31 00:00:00", "2024:01:00 00:00:00", "2024:01:01 24:00:00", "2024:01:01 00:60:00", "2024:01:01 00:00:60",
    "2024:01:01", "", "+024:01:01 00:00:00", "2024101001 00:00:00",
  ]) func whatIsNoDateIsNone(text: String) {
    #expect(CaptureDate(exif: text, offset: "+02:00") == nil)
  }

  @Test(
    arguments: [
      ("2024:02:29 23:59:59", "+02:00", "2024-02-29T23:59:59+02:00"),
      ("2000:02:29 00:00:00", "-09:30", "2000-02-29T00:00:00-09:30"),
      ("0001:01:01 00:00:00", "Z", "0001-01-01T00:00:00+00:00"), ("2024-07-14T18:03:12.5", nil, "2024-07-14T18:03:12"),
      ("2024:07:14 18:03:12", "   :  ", "2024-07-14T18:03:12"),
      ("2024:07:14 18:03:12", "+15:00", "2024-07-14T18:03:12"),
      ("2024:07:14 18:03:12", "+2:00", "2024-07-14T18:03:12"),
    ] as [(String, String?, String)]) func aDateIsWrittenAsInRFC3339(text: String, offset: String?, written: String)
  {
    #expect(CaptureDate(exif: text, offset: offset)?.description == written)
  }

  /// Wherever a file is cut off, and whichever byte is wrong, there are facts or there are none.
  @Test func damagedTagsAreNone() {
    let page = TestTIFF.Directory.page(
      20, 10,
      [
        (0x0110, .text("A Camera")),
        (0x8769, .directories([TestTIFF.Directory([(0x9003, .text("2024:07:14 18:03:12"))])])),
      ])
    let file = TestTIFF([page]).file()
    for count in 0..<file.count { _ = facts(Array(file.prefix(count)), .tiff) }
    for index in file.indices {
      var damaged = file
      damaged[index] ^= 0xFF
      _ = facts(damaged, .tiff)
    }
  }
}
