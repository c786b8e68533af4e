import TestSupport
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(2))) struct TIFFHeaderTests {
  @Test(arguments: [false, true], [false, true])
  func bothByteOrdersAndBigTIFFAreRead(_ isBigEndian: Bool, _ isBig: Bool) throws {
    let profile = [UInt8](repeating: 7, count: 500)
    let page = TestTIFF.Directory.page(
      700, 500, samples: 4, [(0x0112, .short(6)), (0x0152, .short(2)), (0x8773, .bytes(profile))])
    let file = TestTIFF([page], isBigEndian: isBigEndian, isBig: isBig).file()
    let header = try tiffHeader(file)
    #expect(ImageType.sniff(file.prefix(ImageType.sniffLength)) == .tiff)
    #expect(header.type == .tiff)
    #expect(header.pixels == PixelSize(width: 700, height: 500))
    #expect(header.components == .rgb)
    #expect(header.hasAlpha)
    #expect(header.orientation == .rotated90)
    #expect(header.coding == .tiff(directory: isBig ? 16 : 8))
    #expect(header.remarks == [])
    guard case .profile(let extent) = header.color else {
      Issue.record("no profile")
      return
    }
    #expect(Array(file[Int(extent.offset)..<Int(extent.offset + extent.size)]) == profile)
  }

  /// Photometric interpretation, samples of a pixel, and what they mean.
  static let kinds: [(Int?, Int, PictureHeader.Components?)] = [
    (0, 1, .grey(.full)), (1, 1, .grey(.full)), (1, 2, .grey(.full)), (2, 3, .rgb), (2, 4, .rgb), (3, 1, .rgb),
    (5, 4, .cmyk), (5, 5, .cmyk), (6, 3, .rgb), (8, 3, .rgb), (32845, 3, .rgb), (nil, 1, .grey(.full)), (nil, 3, .rgb),
    (2, 2, nil), (5, 3, nil), (10, 3, nil), (1234, 3, nil),
  ]

  @Test(arguments: kinds.indices) func theInterpretationTellsTheComponents(_ index: Int) throws {
    let (photometric, samples, expected) = Self.kinds[index]
    let file = TestTIFF([.page(70, 50, photometric: photometric, samples: samples)]).file()
    if let expected {
      #expect(try tiffHeader(file).components == expected)
    } else {
      let error = try #require(throws: ThumbnailError.self) { try tiffHeader(file) }
      let name = photometric.map(String.init) ?? "none"
      #expect(error == .unsupported("\(samples) samples a pixel of photometric interpretation \(name)"))
    }
  }

  @Test(arguments: [(0, false), (1, true), (2, true)]) func extraSamplesMayBeAlpha(_ value: Int, _ isAlpha: Bool) throws
  {
    let page = TestTIFF.Directory.page(70, 50, photometric: 1, samples: 2, [(0x0152, .short(value))])
    #expect(try tiffHeader(TestTIFF([page]).file()).hasAlpha == isAlpha)
  }

  /// Photometric interpretation, samples of a pixel, and further tags.
  @Test(
    arguments: [
      (2, 4, nil, true), (2, 4, 0x80E3, false), (2, 5, nil, false), (1, 2, nil, false), (6, 4, nil, false),
    ] as [(Int, Int, Int?, Bool)])
  func aFourthSampleIsAlphaIfNothingIsSaid(_ photometric: Int, _ samples: Int, _ tag: Int?, _ isAlpha: Bool) throws {
    let more: [(Int, TestTIFF.Value)] = tag.map { [($0, .short(0))] } ?? []
    let page = TestTIFF.Directory.page(70, 50, photometric: photometric, samples: samples, more)
    #expect(try tiffHeader(TestTIFF([page]).file()).hasAlpha == isAlpha)
  }

  /// Old JPEG says itself how many samples there are, and of how many bits.
  @Test(arguments: [(6, 6, true), (6, 2, true), (5, 6, false)])
  func oldJPEGMayLeaveOutTheCountOfSamples(_ compression: Int, _ photometric: Int, _ isRead: Bool) throws {
    var page = TestTIFF.Directory.page(70, 50, photometric: photometric, compression: compression)
    let whole = try tiffHeader(TestTIFF([page]).file())
    page.entries.removeAll { $0.tag == 0x0115 || $0.tag == 0x0102 }
    let file = TestTIFF([page]).file()
    guard isRead else {
      #expect(throws: ThumbnailError.self) { try tiffHeader(file) }
      return
    }
    #expect(try tiffHeader(file).components == .rgb)
    #expect(try tiffHeader(file).workingBytes == whole.workingBytes)
  }

  @Test(arguments: [false, true]) func reducedPagesOfThePictureAreKnown(_ areInside: Bool) throws {
    let levels = [(1000, 667), (500, 333), (250, 166)].map {
      TestTIFF.Directory.page($0.0, $0.1, subfile: 1)
    }
    // Of another shape, a mask, and of other components.
    let others: [TestTIFF.Directory] = [
      .page(160, 120, subfile: 1), .page(500, 333, subfile: 5), .page(500, 333, subfile: 1, photometric: 1, samples: 1),
    ]
    let more: [(Int, TestTIFF.Value)] = [(0x0112, .short(8)), (0x8773, .bytes([UInt8](repeating: 1, count: 9)))]
    let whole = { TestTIFF.Directory.page(2000, 1333, subfile: 0, more + $0) }
    let chain = areInside ? [whole([(0x014A, .directories(levels + others))])] : [whole([])] + levels + others
    let header = try tiffHeader(TestTIFF(chain).file())
    #expect(header.pixels == PixelSize(width: 2000, height: 1333))
    #expect(header.reduced.map(\.pixels.width) == [1000, 500, 250])
    #expect(header.reduced.allSatisfy { $0.orientation == header.orientation && $0.color == header.color })
    #expect(Set(header.reduced.map(\.coding)).count == 3)
    #expect(header.remarks == [])
  }

  @Test func aReducedPageOfBlackAndWhiteIsNotUsed() throws {
    for (bits, expected) in [(1, [Int]()), (8, [864])] {
      let pages = [(1728, 2200, 0), (864, 1100, 1)].map { width, height, subfile in
        TestTIFF.Directory.page(width, height, subfile: subfile, photometric: 0, samples: 1, bits: bits)
      }
      #expect(try tiffHeader(TestTIFF(pages).file()).reduced.map(\.pixels.width) == expected)
    }
  }

  @Test func aReducedPictureBeforeTheWholeOneIsNotTheWholeOne() throws {
    let whole = TestTIFF.Directory.page(2000, 1500, subfile: 0)
    let first = TestTIFF.Directory.page(200, 150, subfile: 1, [(0x014A, .directories([whole]))])
    let header = try tiffHeader(TestTIFF([first]).file())
    #expect(header.pixels == PixelSize(width: 2000, height: 1500))
    #expect(header.reduced.map(\.pixels.width) == [200])
  }

  @Test(arguments: [2, 3, 500]) func furtherPagesAreRemarked(_ count: Int) throws {
    let file = TestTIFF((0..<count).map { .page(700 + $0, 500) }).file()
    let counter = CountingReader(file)
    let header = try TIFFHeader.read(counter.window)
    #expect(header.pixels == PixelSize(width: 700, height: 500))
    #expect(header.remarks == ["only the first of several pages is shown"])
    #expect(counter.reads <= 12)
  }

  @Test func aDirectoryAtTheEndOfALargeFileTakesTwoReads() throws {
    var tiff = TestTIFF([.page(7000, 5000, photometric: 1, samples: 1)])
    tiff.prefix = [UInt8](repeating: 0, count: 3_000_000)
    let counter = CountingReader(tiff.file())
    #expect(try TIFFHeader.read(counter.window).pixels.width == 7000)
    #expect(counter.reads == 2)
    #expect(counter.bytes <= 64 << 10)
  }

  @Test(arguments: [0, 1_000_001, 0xFFFF_FFFF]) func aSizeThatNoPictureHasIsAnError(_ width: Int) throws {
    let file = TestTIFF([.page(width, 50)]).file()
    let error = try #require(throws: ThumbnailError.self) { try tiffHeader(file) }
    #expect(error == (width == 0 ? .damaged("the picture has no size") : .unsupported("a picture of \(width) × 50")))
  }

  /// The compression, further tags, and the bytes of memory, of a picture of 6000 × 4000 pixels in RGB.
  static let memory: [(Int, rows: Int, [(Int, TestTIFF.Value)], KiB: ClosedRange<Int>)] = [
    // The fixed part, two lines, the strips' places, and 64 KiB that are read at once.
    (1, 4000, [], 365...370), (1, 1, [], 610...620),
    // Strips are read in pieces and decoded a few rows at a time; small ones of Deflate are decoded as a whole.
    (5, 4000, [(0x0117, .long(30_000_000))], 541...546), (5, 20, [], 551...561), (8, 20, [], 5_276...5_476),
    (8, 4000, [(0x0117, .long(9_000_000))], 541...546), (8, 4000, [(0x013D, .short(2))], 541...546),
    // Other compressions, predictors and orders of bits: as it is in the file.
    (32773, 4000, [(0x0117, .long(9_000_000))], 9_100...9_120),
    (5, 4000, [(0x0117, .long(30_000_000)), (0x013D, .short(3))], 29_736...29_816),
    (5, 4000, [(0x0117, .long(30_000_000)), (0x010A, .short(2))], 29_736...29_816),
    (50000, 1, [], 12_000...12_020),
    // Old JPEG cannot stop within a strip. A strip of JPEG data may be decoded a second time, from a copy.
    (6, 4000, [(0x0117, .long(5_000_000))], 80_000...82_000),
    // Tiles, with the bound of their bytes if these are not known.
    (5, 4000, [(0x0142, .long(256)), (0x0143, .long(256)), (0x0145, .long(100_000))], 790...795),
    (5, 4000, [(0x0142, .long(256)), (0x0143, .long(256))], 3_630...3_645),
    // Separate planes have a reader each.
    (8, 4000, [(0x011C, .short(2)), (0x0117, .long(3_000_000))], 1_023...1_033),
    (32773, 4000, [(0x011C, .short(2)), (0x0117, .long(3_000_000))], 9_100...9_120),
  ]

  @Test(arguments: memory.indices) func theMemoryFollowsFromTheDirectory(_ index: Int) throws {
    let (compression, rows, more, expected) = Self.memory[index]
    var page = TestTIFF.Directory.page(6000, 4000, compression: compression, more)
    // The first of equal tags counts.
    page.entries.removeAll { [0x0116, 0x0117].contains($0.tag) }
    page = TestTIFF.Directory(
      page.entries.map { ($0.tag, $0.value) } + more.filter { $0.0 == 0x0117 } + [(0x0116, .long(rows))])
    let kibibytes = try tiffHeader(TestTIFF([page]).file(), size: 100_000_000).workingBytes >> 10
    #expect(expected.contains(kibibytes), "\(kibibytes) KiB")
  }

  /// The first code of a strip tells the LZW of before TIFF 5.0, which libtiff decodes strip by strip.
  @Test(arguments: [([0x80, 0x01], 551...561), ([0x00, 0x01], 5_276...5_476)] as [([UInt8], ClosedRange<Int>)])
  func oldLZWIsDecodedAsAWhole(_ start: [UInt8], _ expected: ClosedRange<Int>) throws {
    var page = TestTIFF.Directory.page(6000, 4000, compression: 5, strip: start)
    page.entries.removeAll { [0x0116, 0x0117].contains($0.tag) }
    page = TestTIFF.Directory(page.entries.map { ($0.tag, $0.value) } + [(0x0116, .long(20))])
    let kibibytes = try tiffHeader(TestTIFF([page]).file(), size: 100_000_000).workingBytes >> 10
    #expect(expected.contains(kibibytes), "\(kibibytes) KiB")
  }

  @Test(arguments: [false, true]) func aProgressiveStripIsHeldAsCoefficients(_ isProgressive: Bool) throws {
    var photo = SyntheticPhoto(seed: 1, width: 1000, height: 800)
    photo.isProgressive = isProgressive
    let page = TestTIFF.Directory.page(1000, 800, photometric: 6, compression: 7, strip: photo.jpeg())
    let bytes = try tiffHeader(TestTIFF([page]).file()).workingBytes
    #expect((bytes > 2 * 3 * 1000 * 800) == isProgressive)
  }

  @Test func tilesWithoutBoundsDoNotOverflowTheMemoryEstimate() throws {
    let tiles: [(Int, TestTIFF.Value)] = [
      (0x0142, .numbers(type: 16, [.max])), (0x0143, .numbers(type: 16, [.max])),
    ]
    let file = TestTIFF([.page(1_000_000, 1_000_000, samples: 16, bits: 64, tiles)], isBig: true).file()
    #expect(try tiffHeader(file).workingBytes > 1 << 50)
  }

  @Test func aFileThatIsCutOffIsTruncated() throws {
    let file = TestTIFF([.page(700, 500)], isBigEndian: true).file()
    for length in [0, 4, 8, 10, 40, 100] {
      let error = try #require(throws: ThumbnailError.self) { try tiffHeader(Array(file.prefix(length))) }
      switch error {
      case .truncated, .damaged: break
      default: Issue.record("\(length): \(error)")
      }
    }
    #expect(throws: ThumbnailError.truncated("the file ends before its image file directory")) {
      try tiffHeader(Array(file.prefix(8)))
    }
  }
}
