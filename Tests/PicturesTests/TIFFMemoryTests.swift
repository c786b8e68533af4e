import CDecoding
import PictureWriters
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// Compares the memory that a TIFF header announces with the heap that decoding takes.
@Suite(
  .serialized, .timeLimit(.minutes(3)), .enabled(if: counts_memory(), "a sanitizer's allocator does not count"))
struct TIFFMemoryTests {
  static let size = PixelSize(width: 1000, height: 400)

  /// A file of noise, which no codec makes smaller.
  static func file(_ picture: TIFFPicture, _ change: (inout tiff_recipe) -> Void = { _ in }) -> [UInt8] {
    var recipe = picture.recipe
    change(&recipe)
    let samples = picture.isSeparate ? 1 : Int(recipe.samples)
    let rowSize = (picture.size.width * samples * Int(recipe.bits) + 7) / 8
    var state: UInt32 = 1
    let count = rowSize * picture.size.height * (picture.isSeparate ? Int(recipe.samples) : 1)
    let noise = (0..<count).map { _ -> UInt8 in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
    return TIFFPicture.write(&recipe, noise, rowSize)
  }

  /// Decodes a file. A few times as much may be announced as is taken, but not more.
  static func check(
    _ file: [UInt8], _ what: String, slack: Int = 5, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    guard !file.isEmpty else {
      Issue.record("libtiff cannot write \(what)", sourceLocation: location)
      return
    }
    let header = try TIFFHeader.read(FileWindow(ByteReader(bytes: file)))
    let taken = try await header.measuredBytes(of: file, CDECODING_TIFF)
    #expect(taken <= header.workingBytes + header.sumBytes, "\(what)", sourceLocation: location)
    #expect(header.workingBytes <= taken * slack + (768 << 10), "\(what)", sourceLocation: location)
  }

  /// Small strips, one that is too large to be decoded as a whole, and tiles.
  static let pieces: [TIFFPicture.Pieces] = [.strips(8), .strips(400), .tiles(128)]

  @Test(arguments: [TIFFPicture.Compression.none, .lzw, .deflate, .packBits, .zstd, .lzma, .jpeg, .webp, .lerc])
  func eachCompressionTakesNoMoreThanTheHeaderSays(_ compression: TIFFPicture.Compression) async throws {
    for pieces in Self.pieces {
      for isSeparate in compression == .webp || compression == .lerc ? [false] : [false, true] {
        let picture = TIFFPicture(
          size: Self.size, compression: compression, pieces: pieces, isSeparate: isSeparate)
        // The windows of these two may be much larger than those of the files here.
        let slack = compression == .zstd || compression == .lzma ? 8 : 5
        try await Self.check(Self.file(picture), picture.testDescription, slack: slack)
      }
    }
  }

  @Test(arguments: [16, 32])
  func wideSamplesTakeNoMoreThanTheHeaderSays(_ bits: Int) async throws {
    for pieces in Self.pieces {
      for alpha in [nil, TIFFPicture.Alpha.unassociated] {
        let picture = TIFFPicture(size: Self.size, compression: .lzw, bits: bits, pieces: pieces, alpha: alpha)
        try await Self.check(Self.file(picture), picture.testDescription)
      }
    }
  }

  @Test func faxesTakeNoMoreThanTheHeaderSays() async throws {
    for compression in [TIFFPicture.Compression.group3, .group4] {
      for pieces in [TIFFPicture.Pieces.strips(8), .strips(400)] {
        let picture = TIFFPicture(
          size: Self.size, photometric: .minIsWhite, compression: compression, bits: 1, pieces: pieces)
        try await Self.check(Self.file(picture), picture.testDescription)
      }
    }
  }

  /// PixarLog and JBIG, by number.
  @Test(arguments: [(32909, 8, 8), (32909, 8, 400), (34661, 1, 400)])
  func rareCompressionsTakeNoMoreThanTheHeaderSays(_ compression: UInt16, _ bits: Int, _ rows: Int) async throws {
    let picture = TIFFPicture(
      size: Self.size, photometric: bits == 1 ? .minIsWhite : .rgb, bits: bits, pieces: .strips(rows))
    try await Self.check(Self.file(picture) { $0.compression = compression }, "\(compression), \(rows) rows")
  }

  @Test func subsampledChromaTakesNoMoreThanTheHeaderSays() async throws {
    for compression in [TIFFPicture.Compression.none, .lzw] {
      for rows in [8, 400] {
        var recipe = TIFFPicture(size: Self.size, compression: compression, pieces: .strips(rows)).recipe
        (recipe.photometric, recipe.across, recipe.down) = (6, 2, 2)
        let file = TIFFPicture.write(&recipe, [UInt8](repeating: 90, count: 3000 * 200), 3000)
        try await Self.check(file, "\(compression) \(rows)")
      }
    }
  }
}
