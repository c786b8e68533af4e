import CDecoding
import PictureWriters
import Testing
import Thumbnails

@testable import Pictures

/// What is wrong with a file, and what ends its decoding.
extension TIFFDecodingTests {
  @Test func eachCutEndsWithAReason() {
    for compression in [TIFFPicture.Compression.none, .lzw, .deflate] {
      for isSeparate in [false, true] {
        let picture = TIFFPicture(compression: compression, isSeparate: isSeparate)
        // The directory is at the end, so it is copied to the beginning of what is cut.
        let file = picture.file()
        for length in stride(from: 0, to: file.count, by: 97) {
          var planes = picture.planes(of: Array(file.prefix(length)), shrink: 2)
          planes.request.start = TIFFPicture.directory(of: file)
          planes.decode()
          #expect(planes.status == CDECODING_TRUNCATED || planes.status == CDECODING_DAMAGED)
          #expect(!planes.message.isEmpty)
        }
      }
    }
  }

  /// Strips whose data is after the directory, as other programs write them.
  @Test func aFileThatEndsWithinItsStripsIsTruncated() {
    let picture = TIFFPicture(compression: .none, isBig: true)
    var file = picture.file()
    let directory = Int(TIFFPicture.directory(of: file))
    // The strips begin after the header; the directory is put before them, and its offsets stay.
    let moved = Array(file[directory...])
    file = Array(file[..<16]) + file[16...]
    var planes = picture.planes(of: file, shrink: 1)
    planes.request.start = UInt64(directory)
    #expect(planes.decoded().status == CDECODING_OK)
    // A strip that begins after the end of the file.
    var broken = file
    let offsets = Self.valueOffset(of: 273, in: moved) + directory
    let place = Int(broken[offsets..<offsets + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    broken.replaceSubrange(place + 8..<place + 16, with: [0, 0, 0, 1, 0, 0, 0, 0])
    planes = picture.planes(of: broken, shrink: 1).decoded()
    #expect(planes.status == CDECODING_TRUNCATED)
    #expect(planes.message.contains("after the end"))
    // One that is left out.
    broken.replaceSubrange(place + 8..<place + 16, with: [UInt8](repeating: 0, count: 8))
    planes = picture.planes(of: broken, shrink: 1).decoded()
    #expect(planes.status == CDECODING_TRUNCATED)
    #expect(planes.message.contains("missing"))
  }

  /// Where the value of a tag is, in the directory of a little-endian BigTIFF file.
  private static func valueOffset(of tag: UInt16, in directory: [UInt8]) -> Int {
    stride(from: 8, to: directory.count - 20, by: 20).first {
      directory[$0] == UInt8(tag & 255) && directory[$0 + 1] == UInt8(tag >> 8)
    }.map { $0 + 12 } ?? 0
  }

  @Test func brokenDataIsDamaged() {
    let picture = TIFFPicture(compression: .deflate, pieces: .strips(33))
    var file = picture.file()
    for index in 40..<400 { file[index] = 0xFF }
    let planes = picture.planes(of: file, shrink: 1).decoded()
    #expect(planes.status == CDECODING_DAMAGED)
    #expect(!planes.message.isEmpty)
  }

  /// As for libtiff. Decoders of GIF, whose LZW is nearly the same, do without the code.
  @Test(arguments: [true, false]) func anLZWStripBeginsWithAClearCode(hasClearCode: Bool) {
    // Codes of nine bits: Clear, A, B, and the end.
    let codes = (hasClearCode ? [256] : []) + [65, 66, 257]
    let bits = codes.flatMap { code in (0..<9).map { code >> (8 - $0) & 1 } } + [Int](repeating: 0, count: 8)
    let data = stride(from: 0, to: bits.count - 7, by: 8).map { start in
      bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | UInt8($1) }
    }
    let call = Page(
      testDescription: "LZW", size: PixelSize(width: 2, height: 1), compression: 5, data: data
    ).call()
    #expect(call.status == (hasClearCode ? CDECODING_OK : CDECODING_DAMAGED), "\(call.message)")
    if hasClearCode { #expect(call.plane(0) == [65, 66]) }
  }

  @Test func aMessageDoesNotBeginWithTheNameOfTheFile() throws {
    let picture = TIFFPicture()
    var file = picture.file()
    let planarConfiguration: [UInt8] = [0x1C, 1, 3, 0, 1, 0, 0, 0]
    let place = try #require(file.indices.first { file[$0...].starts(with: planarConfiguration) })
    file[place + 8] = 9
    let planes = picture.planes(of: file, shrink: 1).decoded()
    #expect(planes.message == "Bad value 9 for \"PlanarConfiguration\" tag")
  }

  @Test func anotherSizeOrOtherColoursAreRejected() {
    let picture = TIFFPicture()
    let file = picture.file()
    var other = picture
    other.size = PixelSize(width: 44, height: 33)
    #expect(other.planes(of: file, shrink: 1).decoded().status == CDECODING_DAMAGED)
    other = picture
    other.photometric = .cmyk
    #expect(other.planes(of: file, shrink: 1).decoded().status == CDECODING_DAMAGED)
  }

  @Test func aPaletteThatIsMissingIsDamage() throws {
    let picture = TIFFPicture(photometric: .palette)
    var file = picture.file()
    let colorMap: [UInt8] = [0x40, 1, 3, 0]
    let place = try #require(file.indices.first { file[$0...].starts(with: colorMap) })
    file[place + 1] = 0xFF
    let planes = picture.planes(of: file, shrink: 1).decoded()
    #expect(planes.status == CDECODING_DAMAGED)
    #expect(planes.message == "it has other colours than its directory says")
  }

  @Test func aPhotometricInterpretationOfSensorsIsUnsupported() {
    let picture = TIFFPicture(photometric: .minIsBlack)
    var recipe = picture.recipe
    recipe.photometric = 32803
    let file = TIFFPicture.write(&recipe, [UInt8](repeating: 9, count: 45 * 33), 45)
    let planes = picture.planes(of: file, shrink: 1).decoded()
    #expect(planes.status == CDECODING_UNSUPPORTED)
    #expect(planes.message.contains("32803"))
  }

  @Test func decodingCanBeCancelled() {
    let small = [
      (TIFFPicture.Compression.none, TIFFPicture.Pieces.strips(5)), (.lzw, .strips(5)), (.packBits, .strips(900)),
      (.lzw, .tiles(16)),
    ].map { TIFFPicture(size: PixelSize(width: 300, height: 900), compression: $0, pieces: $1) }
    for picture in small + [Self.streamed[0]] {
      let file = picture.file()
      for patience in [0, 1, 3] {
        var planes = picture.planes(of: file, shrink: 10)
        planes.patience = patience
        planes.decode()
        #expect(planes.status == CDECODING_CANCELLED)
      }
    }
  }
}
