import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(2))) struct RawFileTests {
  static func read(_ file: [UInt8]) throws -> PictureHeader { try read(CountingReader(file).window, file) }

  /// By the type that the first bytes tell.
  static func read(_ window: FileWindow, _ file: [UInt8]) throws -> PictureHeader {
    ImageType.sniff(file.prefix(ImageType.sniffLength)) == .raf
      ? try RawFile.fujifilm(window) : try TIFFHeader.read(window)
  }

  private static func jpeg(_ header: PictureHeader, in file: [UInt8]) -> [UInt8] {
    guard case .jpeg(let extent) = header.coding else { return [] }
    return Array(file[Int(extent.offset)..<Int(extent.offset + extent.size)])
  }

  @Test(arguments: TestCamera.kinds) func theLargestPreviewOfEachKindIsFound(_ kind: String) throws {
    let camera = TestCamera()
    let file = camera.file(kind)
    let header = try Self.read(file)
    #expect(header.type.displayName == kind)
    #expect(header.type.isRaw)
    #expect(header.pixels == PixelSize(width: 1616, height: 1080))
    #expect(Self.jpeg(header, in: file) == TestCamera.jpeg(camera.full))
    #expect(header.orientation == .upright)
    #expect(header.remarks == [])
  }

  @Test(arguments: [("NEF", [[640, 428]]), ("DNG", [[640, 428]]), ("CR2", [[160, 120]]), ("PEF", [[160, 120]])])
  func smallerPreviewsAreKnown(_ kind: String, _ sizes: [[Int]]) throws {
    let file = TestCamera().file(kind)
    let header = try Self.read(file)
    #expect(header.reduced.map { [$0.pixels.width, $0.pixels.height] } == sizes)
    #expect(header.reduced.allSatisfy { Self.jpeg($0, in: file).starts(with: [0xFF, 0xD8, 0xFF]) })
    #expect(header.reduced.allSatisfy { $0.type == header.type })
  }

  @Test(arguments: TestCamera.kinds) func fewPartsOfTheFileAreRead(_ kind: String) throws {
    var camera = TestCamera()
    camera.gap = 400_000
    let file = camera.file(kind)
    let counter = CountingReader(file)
    _ = try Self.read(counter.window, file)
    #expect(counter.reads <= 12)
    #expect(counter.bytes <= 256 << 10)
  }

  @Test(arguments: TestCamera.kinds) func theFirstBytesTellWhichReaderIsNeeded(_ kind: String) {
    let expected: [String: ImageType] = ["CR2": .cr2, "ORF": .orf, "RW2": .rw2, "RAF": .raf]
    #expect(ImageType.sniff(TestCamera().file(kind).prefix(ImageType.sniffLength)) == expected[kind] ?? .tiff)
  }

  @Test(arguments: TestCamera.kinds.filter { $0 != "RAF" }, [1, 3, 6, 8])
  func theRawFilesOrientationCountsIfThePreviewHasNone(_ kind: String, _ orientation: Int) throws {
    var camera = TestCamera()
    camera.orientation = orientation
    #expect(try Self.read(camera.file(kind)).orientation.rawValue == orientation)
  }

  @Test(arguments: [1, 3, 6, 8]) func thePreviewOfAFujifilmFileHasItsOwnOrientation(_ orientation: Int) throws {
    var camera = TestCamera()
    camera.ownOrientation = orientation
    #expect(try Self.read(camera.file("RAF")).orientation.rawValue == orientation)
  }

  /// The orientation of the RAW file, that of the preview (0 for none), whether the preview's pixels are turned, and the
  /// orientation that is right.
  @Test(arguments: [
    (6, 6, false, 6), (3, 1, false, 1), (1, 3, false, 3),
    // Turned upright by the camera, which may say so or not.
    (6, 0, true, 1), (8, 1, true, 1), (6, 6, true, 1),
    // An orientation that was never set in the preview.
    (6, 1, false, 6), (8, 1, false, 8),
    // One that was changed in the preview only, against the sensor's shape.
    (1, 6, false, 1),
  ])
  func anOrientationThatContradictsTheSensorsShapeDoesNotCount(
    _ raw: Int, _ own: Int, _ isTurned: Bool, _ expected: Int
  ) throws {
    var camera = TestCamera()
    (camera.orientation, camera.ownOrientation) = (raw, own)
    if isTurned { camera.full = (1080, 1616) }
    #expect(try Self.read(camera.file("NEF")).orientation.rawValue == expected)
  }

  @Test func aPreviewThatIsMuchSmallerThanTheSensorIsRemarked() throws {
    var camera = TestCamera()
    camera.full = (800, 534)
    #expect(try Self.read(camera.file("ARW")).remarks == ["its largest preview has 800 × 534, of 1640 × 1096"])
  }

  @Test func aRawFileWithoutPreviewSaysSo() throws {
    let page = TestTIFF.Directory.page(
      3000, 2000, photometric: 32803, samples: 1, compression: 34713, [(0x010F, .text("NIKON CORPORATION"))])
    let error = try #require(throws: ThumbnailError.self) { try tiffHeader(TestTIFF([page]).file()) }
    #expect(error == .unsupported("it has no preview that can be read"))
  }

  @Test func aRawFileThatEndsBeforeItsPreviewsIsTruncated() throws {
    let first = TestTIFF.Directory([
      (0xC612, .numbers(type: 1, [1, 4, 0, 0])), (0x0103, .short(6)), (0x0201, .long(5_000_000)),
      (0x0202, .long(900_000)),
    ])
    let error = try #require(throws: ThumbnailError.self) { try tiffHeader(TestTIFF([first]).file()) }
    #expect(error == .truncated("the file ends before its preview"))
  }

  @Test(arguments: TestCamera.kinds.filter { $0 != "RAF" }, [0.001, 0.05, 0.3])
  func aRawFileThatEndsAnywhereIsTruncatedOrShownByWhatIsThere(_ kind: String, _ part: Double) throws {
    let file = TestCamera().file(kind)
    do {
      let header = try Self.read(Array(file.prefix(Int(Double(file.count) * part))))
      #expect(header.type.displayName == kind || header.type == .tiff)
    } catch {
      guard case ThumbnailError.truncated = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test func withoutJPEGAnUncompressedPreviewIsTaken() throws {
    let first = TestTIFF.Directory.page(
      320, 240, subfile: 1,
      [
        (0x014A, .directories([.page(3936, 2630, subfile: 0, photometric: 32803, samples: 1)])),
        (0xC612, .numbers(type: 1, [1, 0, 0, 0])), (0x0112, .short(8)),
      ])
    let header = try tiffHeader(TestTIFF([first]).file())
    #expect(header.type == .dng)
    #expect(header.pixels == PixelSize(width: 320, height: 240))
    #expect(header.coding == .tiff(directory: 8))
    #expect(header.orientation == .rotated270)
  }

  @Test func aStripWithoutItsTablesIsNoPreview() throws {
    let strip = TestCamera.jpeg((640, 480))
    let more: [(Int, TestTIFF.Value)] = [(0xC612, .numbers(type: 1, [1, 4, 0, 0]))]
    let page = { TestTIFF.Directory.page(640, 480, photometric: 6, compression: 7, strip: strip, more + $0) }
    #expect(try tiffHeader(TestTIFF([page([])]).file()).pixels.width == 640)
    #expect(throws: ThumbnailError.unsupported("it has no preview that can be read")) {
      try tiffHeader(TestTIFF([page([(0x015B, .bytes([0xFF, 0xD8, 0xFF, 0xD9]))])]).file())
    }
  }

  /// SOF markers, and whether our decoder reads such files: not the lossless and the hierarchical processes.
  @Test(arguments: [(0xC0, true), (0xC1, true), (0xC2, true), (0xC9, true), (0xCA, true), (0xC3, false), (0xC5, false)])
  func previewsAreOfProcessesThatAreDecoded(_ marker: Int, _ isRead: Bool) throws {
    var file = TestCamera.jpeg((96, 64))
    let place = try #require(file.indices.dropLast().first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
    file[place + 1] = UInt8(marker)
    let extent = FileExtent(offset: 0, size: UInt64(file.count))
    let head = try JPEGHead.read(FileBlocks(FileWindow(ByteReader(bytes: file))), extent)
    #expect(head?.pixels == (isRead ? PixelSize(width: 96, height: 64) : nil))
    // Samples of more than 8 bits.
    file[place + 1] = 0xC1
    file[place + 4] = 12
    #expect(try JPEGHead.read(FileBlocks(FileWindow(ByteReader(bytes: file))), extent) == nil)
  }

  @Test(arguments: [
    ("NIKON CORPORATION", ImageType.nef), ("RICOH IMAGING COMPANY, LTD.  ", .pef), ("Hasselblad", .raw),
  ])
  func theMakerTellsTheKind(_ make: String, _ type: ImageType) throws {
    let raw = TestTIFF.Directory.page(3000, 2000, subfile: 0, photometric: 32803, samples: 1)
    let first = TestTIFF.Directory.jpeg(
      TestCamera.jpeg((300, 200)), [(0x010F, .text(make)), (0x014A, .directories([raw]))])
    #expect(try tiffHeader(TestTIFF([first]).file()).type == type)
  }

  @Test func aTIFFFileOfACameraIsNoRawFile() throws {
    let page = TestTIFF.Directory.page(300, 200, [(0x010F, .text("NIKON CORPORATION"))])
    #expect(try tiffHeader(TestTIFF([page]).file()).type == .tiff)
  }

  @Test(arguments: ["Pentax", "Nikon", "OldOlympus"]) func previewsAreFoundInMakersNotes(_ maker: String) throws {
    let jpeg = TestCamera.jpeg((640, 480))
    let notes = TestTIFF.Value.written { start in
      let tiff = TestTIFF([], isBigEndian: maker != "OldOlympus")
      let entry = { (tag: Int, value: Int) in
        tiff.number(tag, 2) + tiff.number(4, 2) + tiff.number(1, 4) + tiff.number(value, 4)
      }
      let directory = { (first: [UInt8], second: [UInt8]) in tiff.number(2, 2) + first + second + tiff.number(0, 4) }
      switch maker {
      case "Pentax":
        return Array("AOC\0MM".utf8) + directory(entry(3, jpeg.count), entry(4, start + 36)) + jpeg
      case "OldOlympus":
        return Array("OLYMP\0".utf8) + [1, 0] + directory(entry(0x88, start + 38), entry(0x89, jpeg.count)) + jpeg
      default: return TestCamera.nikonNotes(jpeg, gap: 0)
      }
    }
    let makes = ["Pentax": "PENTAX", "Nikon": "NIKON CORPORATION", "OldOlympus": "OLYMPUS"]
    let first = TestTIFF.Directory.page(
      2000, 1500, photometric: 32803, samples: 1,
      [(0x010F, .text(try #require(makes[maker]))), (0x8769, .directories([TestTIFF.Directory([(0x927C, notes)])]))])
    let header = try tiffHeader(TestTIFF([first], isBigEndian: maker != "OldOlympus").file())
    #expect(header.pixels == PixelSize(width: 640, height: 480))
  }
}
