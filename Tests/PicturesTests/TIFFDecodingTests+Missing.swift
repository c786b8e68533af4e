import CDecoding
import PictureWriters
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// Strips and tiles whose data are those of a smaller picture, and files that change while they are read.
extension TIFFDecodingTests {
  /// A grey page with one strip or tile.
  struct Page: CustomTestStringConvertible {
    var testDescription: String
    var size: PixelSize
    var bits = 8
    var photometric = 1
    var compression: Int
    var data: [UInt8]
    var tile: PixelSize?

    /// - Parameter toleratesDamage: whether samples may be wrong, as with `FailOn.truncated`.
    func call(toleratesDamage: Bool = false) -> DecoderCall {
      var page = TestTIFF.Directory.page(
        size.width, size.height, photometric: photometric, samples: 1, bits: bits, compression: compression, strip: data
      )
      if let tile {
        page.entries.removeAll { [0x0111, 0x0116, 0x0117].contains($0.tag) }
        page.entries +=
          TestTIFF.Directory([
            (0x0142, .long(tile.width)), (0x0143, .long(tile.height)), (0x0144, .data(data)),
            (0x0145, .long(data.count)),
          ]).entries
      }
      let file = TestTIFF([page]).file()
      var call = DecoderCall(file, CDECODING_TIFF, size, planes: 1)
      call.request.start = TIFFPicture.directory(of: file)
      call.request.fail_mask = toleratesDamage ? FailOn.truncated.mask : FailOn.error.mask
      return call.decoded()
    }
  }

  private static func jpeg(_ width: Int, _ height: Int) -> [UInt8] {
    var photo = SyntheticPhoto(seed: 1, width: width, height: height)
    (photo.isGrey, photo.isBlank) = (true, true)
    return photo.jpeg()
  }

  private static func jpegPage(
    _ what: String, _ size: PixelSize, of part: PixelSize, tile: PixelSize? = nil
  ) -> Page {
    Page(testDescription: what, size: size, compression: 7, data: jpeg(part.width, part.height), tile: tile)
  }

  /// White rows of CCITT's group 4, each one bit long, and the end of the data.
  private static func faxPage(_ what: String, _ size: PixelSize, rows: Int) -> Page {
    let endOfLine = [Int](repeating: 0, count: 11) + [1]
    let bits = [Int](repeating: 1, count: rows) + endOfLine + endOfLine
    let data = stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { $0 << 1 | UInt8(start + $1 < bits.count ? bits[start + $1] : 0) }
    }
    return Page(testDescription: what, size: size, bits: 1, photometric: 0, compression: 4, data: data)
  }

  private static func jbigPage(_ what: String, _ size: PixelSize, rows: Int) -> Page {
    var recipe = tiff_recipe()
    (recipe.width, recipe.height, recipe.rows_per_strip) = (UInt32(size.width), UInt32(rows), UInt32(rows))
    (recipe.samples, recipe.bits, recipe.format, recipe.compression) = (1, 1, 1, 34661)
    let row = (size.width + 7) / 8
    let file = TIFFPicture.write(&recipe, [UInt8](repeating: 0xF0, count: row * rows), row)
    // The strip is between header and directory.
    let data = Array(file[8..<Int(TIFFPicture.directory(of: file))])
    return Page(testDescription: what, size: size, bits: 1, photometric: 0, compression: 34661, data: data)
  }

  /// Two uncompressed strips of 32 rows. What follows the bytes of a strip is not read in its place.
  @Test(
    arguments: [(8192, CDECODING_OK), (8191, CDECODING_TRUNCATED), (100, CDECODING_TRUNCATED)]
      as [(UInt64, cdecoding_status)])
  func anUncompressedStripHasTheBytesThatItSays(count: UInt64, expected: cdecoding_status) {
    let samples = [UInt8](repeating: 90, count: 4 * 8192)
    var page = TestTIFF.Directory.page(256, 64, photometric: 1, samples: 1, [(0xC000, .bytes(samples))])
    page.entries.removeAll { [0x0111, 0x0116, 0x0117].contains($0.tag) }
    let strips: [(Int, TestTIFF.Value)] = [
      (0x0111, .numbers(type: 4, [8192, 8192])), (0x0116, .long(32)), (0x0117, .numbers(type: 4, [count, count])),
    ]
    page.entries += TestTIFF.Directory(strips).entries
    let file = TestTIFF([page]).file()
    var call = DecoderCall(file, CDECODING_TIFF, Self.size, planes: 1)
    call.request.start = TIFFPicture.directory(of: file)
    let decoded = call.decoded()
    #expect(decoded.reply.status == expected, "\(decoded.message)")
  }

  private static let size = PixelSize(width: 256, height: 64)
  /// Too large to be decoded as a whole.
  private static let large = PixelSize(width: 8000, height: 80)

  static let partial = [
    jpegPage("JPEG, too few rows", size, of: PixelSize(width: 256, height: 16)),
    jpegPage("JPEG, too few columns", size, of: PixelSize(width: 64, height: 64)),
    jpegPage("JPEG tile", size, of: PixelSize(width: 16, height: 16), tile: size),
    jpegPage("JPEG, large, too few rows", large, of: PixelSize(width: 8000, height: 16)),
    jpegPage("JPEG, large, too few columns", large, of: PixelSize(width: 16, height: 80)),
    faxPage("group 4", size, rows: 1), jbigPage("JBIG", size, rows: 32),
  ]

  @Test(arguments: partial) func aStripThatIsNotFilledLacksSamples(page: Page) {
    let call = page.call()
    #expect(call.status == CDECODING_TRUNCATED || (page.size == Self.large && call.status == CDECODING_DAMAGED))
    let texts = ["lacks samples", "Premature EOL"]
    #expect(texts.contains { call.message.contains($0) } || call.status == CDECODING_DAMAGED, "\(call.message)")
  }

  static let whole = [
    jpegPage("JPEG", size, of: size), jpegPage("JPEG, large", large, of: large), faxPage("group 4", size, rows: 64),
    faxPage("group 4, rows of a byte and a bit", PixelSize(width: 9, height: 4), rows: 4),
    faxPage("group 4, rows of two bytes less a bit", PixelSize(width: 15, height: 4), rows: 4),
    faxPage("group 4, large", PixelSize(width: 30000, height: 150), rows: 150), jbigPage("JBIG", size, rows: 64),
    jpegPage(
      "a JPEG tile without what is outside the picture", PixelSize(width: 100, height: 50),
      of: PixelSize(width: 112, height: 56), tile: PixelSize(width: 256, height: 64)),
  ]

  @Test(arguments: whole) func aStripThatIsFilledIsShown(page: Page) {
    let call = page.call()
    #expect(call.status == CDECODING_OK, "\(call.message)")
    #expect(Set(call.plane(0)) == (page.compression == 7 ? [128] : page.compression == 4 ? [255] : [0, 255]))
  }

  /// The value with which a strip is filled before it is decoded, and its opposite.
  @Test(arguments: [UInt8(0x5A), 0xA5]) func noSampleIsTakenForOneThatIsMissing(value: UInt8) {
    for pieces in [TIFFPicture.Pieces.strips(16), .tiles(16), .strips(1400)] {
      var picture = TIFFPicture(size: PixelSize(width: 400, height: 1400), photometric: .minIsBlack)
      (picture.compression, picture.pieces) = (.packBits, pieces)
      var recipe = picture.recipe
      let file = TIFFPicture.write(&recipe, [UInt8](repeating: value, count: 400 * 1400), 400)
      let call = picture.planes(of: file, shrink: 1).decoded()
      #expect(call.status == CDECODING_OK && Set(call.plane(0)) == [value], "\(call.message)")
    }
  }

  /// Each plane has a reader of its own, which reads the values again that are not in the directory itself.
  @Test func aFileThatChangesBetweenTwoReadersFails() throws {
    var picture = TIFFPicture(size: PixelSize(width: 10000, height: 60), compression: .packBits, pieces: .strips(60))
    picture.isSeparate = true
    var recipe = picture.recipe
    let samples = [UInt8](repeating: 9, count: 3 * 60 * 10000)
    let file = TIFFPicture.write(&recipe, samples, 10000)
    var call = picture.planes(of: file, shrink: 1)
    #expect(call.decoded().status == CDECODING_OK)
    let bitsPerSample: [UInt8] = [0x02, 1, 3, 0, 3, 0, 0, 0]
    let entry = try #require(file.indices.first { file[$0...].starts(with: bitsPerSample) })
    let place = file[entry + 8..<entry + 12].reversed().reduce(0) { $0 << 8 | Int($1) }
    #expect(Array(file[place..<place + 6]) == [8, 0, 8, 0, 8, 0])
    call.change = (place, [16, 0, 16, 0, 16, 0])
    call.decode()
    #expect(call.status == CDECODING_DAMAGED && call.message == "the file changes while it is read", "\(call.message)")
  }

  // MARK: What libtiff says

  /// The data of one strip: rows of dots, in a fax.
  private static func faxData(_ size: PixelSize, group: Int) -> [UInt8] {
    var recipe = tiff_recipe()
    (recipe.width, recipe.height, recipe.rows_per_strip) = (
      UInt32(size.width), UInt32(size.height), UInt32(size.height)
    )
    (recipe.samples, recipe.bits, recipe.format, recipe.compression) = (1, 1, 1, UInt16(group))
    let row = (size.width + 7) / 8
    let file = TIFFPicture.write(&recipe, (0..<row * size.height).map { UInt8($0 * 37 & 0xFF) }, row)
    return Array(file[8..<Int(TIFFPicture.directory(of: file))])
  }

  private static func fax(_ data: [UInt8], _ size: PixelSize, group: Int) -> Page {
    Page(
      testDescription: "group \(group)", size: size, bits: 1, photometric: 0, compression: group, data: data)
  }

  @Test func aFaxThatEndsWithinARowIsTruncated() {
    for size in [PixelSize(width: 256, height: 64), PixelSize(width: 8000, height: 600)] {
      for group in [3, 4] {
        let data = Self.faxData(size, group: group)
        let call = Self.fax(Array(data.prefix(data.count / 2)), size, group: group).call(toleratesDamage: true)
        #expect(call.status == CDECODING_TRUNCATED, "\(call.message)")
        #expect(call.message.hasPrefix("Premature EO"), "\(call.message)")
      }
    }
  }

  @Test func aFaxWithWrongRowsIsDamaged() {
    let size = PixelSize(width: 256, height: 64)
    // Rows of another length.
    let page = Self.fax(Self.faxData(size, group: 3), PixelSize(width: 240, height: 64), group: 3)
    var call = page.call()
    #expect(
      call.status == CDECODING_CORRUPT && call.message.hasPrefix("Line length mismatch at line "), "\(call.message)")
    let tolerant = page.call(toleratesDamage: true)
    #expect(tolerant.status == CDECODING_OK && tolerant.damage == call.message, "\(tolerant.message)")
    // A code that does not exist, after which the rest is not found either.
    var wrong = Self.faxData(size, group: 4)
    wrong.replaceSubrange(wrong.count / 2..<wrong.count / 2 + 2, with: [0, 0x20])
    call = Self.fax(wrong, size, group: 4).call()
    #expect(call.status == CDECODING_CORRUPT && call.message.hasPrefix("Premature EOL at line "), "\(call.message)")
  }

  @Test(arguments: [PixelSize(width: 256, height: 256), PixelSize(width: 1024, height: 600)])
  func whatIsWrongWithAJPEGStripIsFound(size: PixelSize) {
    var photo = SyntheticPhoto(seed: 3, width: size.width, height: size.height)
    photo.isGrey = true
    let data = photo.jpeg()
    var page = Page(testDescription: "JPEG", size: size, compression: 7, data: Array(data.dropLast(2)))
    // No EOI marker, but all samples.
    var call = page.call()
    #expect(call.status == CDECODING_OK && call.warning.hasPrefix("Premature end of JPEG file"), "\(call.message)")
    page.data = Array(data.prefix(data.count * 2 / 3))
    call = page.call(toleratesDamage: true)
    #expect(call.status == CDECODING_TRUNCATED, "\(call.message)")
    let texts = ["Corrupt JPEG data: premature end of data segment", "the JPEG data of a strip end at row "]
    #expect(texts.contains { call.message.hasPrefix($0) }, "\(call.message)")
    page.data = data
    // A marker that does not belong there.
    page.data.replaceSubrange(data.count / 2..<data.count / 2 + 2, with: [0xFF, 0xD3])
    call = page.call()
    #expect(call.status == CDECODING_CORRUPT, "\(call.message)")
    #expect(page.call(toleratesDamage: true).status == CDECODING_OK)
  }
}
