import Testing

@testable import Thumbnails

@Suite struct ImageTypeTests {
  static let heads: [(ImageType?, [UInt8])] = [
    (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0]), (.png, [0x89] + Array("PNG\r\n\u{1A}\n".utf8)), (.gif, Array("GIF89a".utf8)),
    (.webp, Array("RIFF\0\0\0\0WEBPVP8 ".utf8)), (nil, Array("RIFF\0\0\0\0WAVEfmt ".utf8)),
    (.tiff, Array("II*\0".utf8)), (.tiff, Array("MM\0*".utf8)), (nil, Array("BM, a car maker".utf8)),
    (.tiff, Array("II+\0".utf8) + [8, 0]), (.tiff, Array("MM\0+".utf8) + [0, 8]), (nil, Array("II+\0".utf8) + [4, 0]),
    (.cr2, Array("II*\0".utf8) + [16, 0, 0, 0] + Array("CR".utf8) + [2, 0]), (.raf, Array("FUJIFILMCCD-RAW 0201".utf8)),
    (.orf, Array("IIRO".utf8)), (.orf, Array("IIRS".utf8)), (.orf, Array("MMOR".utf8)), (.rw2, Array("IIU\0".utf8)),
    (.raw, Array("\0MRM".utf8)), (.raw, Array("FOVb".utf8)),
    (.raw, Array("II".utf8) + [26, 0, 0, 0] + Array("HEAPCCDR".utf8)),
    (.cr3, [0, 0, 0, 24] + Array("ftypcrx \0\0\0\u{1}crx isom".utf8)),
    (.bmp, Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40, 0, 0, 0]),
    (.heic, [0, 0, 0, 24] + Array("ftypheic\0\0\0\0mif1heic".utf8)),
    (.heic, [0, 0, 0, 24] + Array("ftypmif1\0\0\0\0mif1heic".utf8)),
    (.avif, [0, 0, 0, 28] + Array("ftypavif\0\0\0\0avifmif1miaf".utf8)),
    (nil, [0, 0, 0, 20] + Array("ftypisom\0\0\0\0isom".utf8)),
    (.jxl, [0xFF, 0x0A]), (.jxl, [0, 0, 0, 12] + Array("JXL \r\n".utf8)), (.jp2, [0, 0, 0, 12] + Array("jP  ".utf8)),
    (.psd, Array("8BPS".utf8)), (.ico, [0, 0, 1, 0, 2, 0]), (nil, Array("<html>".utf8)), (nil, [0xFF, 0xD8]), (nil, []),
  ]

  @Test(arguments: heads.indices) func theFirstBytesIdentifyTheType(_ index: Int) {
    #expect(ImageType.sniff(Self.heads[index].1) == Self.heads[index].0)
  }

  @Test func aShortHeadNeverCrashes() {
    for (_, head) in Self.heads {
      for length in 0...head.count { _ = ImageType.sniff(head.prefix(length)) }
    }
  }

  @Test(
    arguments: [
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "a PNG picture, a format of which no thumbnails are made"),
      ([0x3C, 0x68, 0x74, 0x6D, 0x6C], "not an image (it starts with 3C 68 74 6D)"),
      ([], "the file is empty"), ([0xFF], "not an image (it starts with FF)"),
      ([0xFF, 0xD8, 0xFF], "truncated: it is cut off after 3 bytes"),
    ] as [([UInt8], String)])
  func otherFilesAreRejectedWithAReason(_ bytes: [UInt8], _ message: String) throws {
    let error = try #require(throws: ThumbnailError.self) {
      try thumbnails(of: bytes, ThumbnailOptions(sizes: [try SizeSpec(parsing: "8")]))
    }
    #expect(error.description == message)
  }
}
