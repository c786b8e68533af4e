import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(2))) struct MultiPictureFileTests {
  /// An image of the index: its attribute, and its bytes.
  struct Image {
    var attribute: Int
    var jpeg: [UInt8]
  }

  /// A JPEG with an index in its second segment, and the images after it.
  private func file(
    _ main: [UInt8], _ images: [Image], isBigEndian: Bool = false, changeOffset: (Int) -> Int = { $0 }
  ) -> [UInt8] {
    let tiff = TestTIFF([], isBigEndian: isBigEndian)
    let entriesAt = 8 + 2 + 3 * 12 + 4
    let length = entriesAt + 16 * (images.count + 1)
    // The index begins after SOI, marker, length and identifier.
    var place = main.count + 8 + length - 10
    var entries =
      tiff.number(0x2003_0000, 4) + tiff.number(main.count + 8 + length, 4) + [UInt8](repeating: 0, count: 8)
    for image in images {
      entries += tiff.number(image.attribute, 4) + tiff.number(image.jpeg.count, 4)
      entries += tiff.number(changeOffset(place), 4) + [0, 0, 0, 0]
      place += image.jpeg.count
    }
    var index: [UInt8] = Array((isBigEndian ? "MM" : "II").utf8) + tiff.number(42, 2) + tiff.number(8, 4)
    index += tiff.number(3, 2)
    index += tiff.number(0xB000, 2) + tiff.number(7, 2) + tiff.number(4, 4) + Array("0100".utf8)
    index += tiff.number(0xB001, 2) + tiff.number(4, 2) + tiff.number(1, 4) + tiff.number(images.count + 1, 4)
    index += tiff.number(0xB002, 2) + tiff.number(7, 2) + tiff.number(entries.count, 4) + tiff.number(entriesAt, 4)
    index += tiff.number(0, 4) + entries
    precondition(index.count == length)
    let segment = [0xFF, 0xE2] + TestTIFF([], isBigEndian: true).number(length + 6, 2) + Array("MPF\0".utf8) + index
    return main.prefix(2) + segment + main.dropFirst(2) + images.flatMap(\.jpeg)
  }

  private func read(_ file: [UInt8]) throws -> PictureHeader {
    try #require(try MultiPictureFile.read(FileWindow(ByteReader(bytes: file))))
  }

  private let main = TestCamera.jpeg((1800, 1200))
  private let small = TestCamera.jpeg((480, 320))
  private let large = TestCamera.jpeg((960, 640))

  @Test(arguments: [false, true]) func largeThumbnailsAreFound(_ isBigEndian: Bool) throws {
    let images = [Image(attribute: 0x4001_0001, jpeg: small), Image(attribute: 0x4001_0002, jpeg: large)]
    let file = file(main, images, isBigEndian: isBigEndian)
    let header = try read(file)
    #expect(header.type == .jpeg)
    #expect(header.pixels == PixelSize(width: 1800, height: 1200))
    #expect(header.coding == .jpeg(FileExtent(offset: 0, size: UInt64(file.count))))
    #expect(header.reduced.map(\.pixels.width) == [480, 960])
    let parts = header.reduced.map { header -> [UInt8] in
      guard case .jpeg(let extent) = header.coding else { return [] }
      return Array(file[Int(extent.offset)..<Int(extent.offset + extent.size)])
    }
    #expect(parts == [small, large])
  }

  /// Gain maps and depth have an undefined type, or one of their own; panoramas and stereo pictures another.
  @Test(arguments: [0x0000_0000, 0x4000_0000, 0x0005_0000, 0x0002_0001, 0x0002_0002, 0x0003_0000, 0x0101_0001])
  func imagesOfOtherTypesAreNoPreviews(_ attribute: Int) throws {
    #expect(try read(file(main, [Image(attribute: attribute, jpeg: small)])).reduced.isEmpty)
  }

  @Test func whatIsNotThereOrNotSmallerIsNoPreview() throws {
    #expect(try read(file(main, [Image(attribute: 0x10001, jpeg: small)], changeOffset: { $0 + 5 })).reduced.isEmpty)
    #expect(try read(file(main, [Image(attribute: 0x10001, jpeg: small)], changeOffset: { _ in .max })).reduced.isEmpty)
    #expect(try read(file(small, [Image(attribute: 0x10001, jpeg: main)])).reduced.isEmpty)
    #expect(try read(file(main, [Image(attribute: 0x10001, jpeg: TestCamera.lossless)])).reduced.isEmpty)
    #expect(try read(main).reduced.isEmpty)
  }

  @Test func aPreviewIsTurnedAsItsOwnOrientationSaysElseAsThePicture() throws {
    let turned = TestCamera.jpeg((1800, 1200), orientation: 6)
    let images = [
      Image(attribute: 0x10001, jpeg: small),
      Image(attribute: 0x10002, jpeg: TestCamera.jpeg((960, 640), orientation: 8)),
    ]
    let header = try read(file(turned, images))
    #expect(header.orientation == .rotated90)
    #expect(header.reduced.map(\.orientation) == [.rotated90, .rotated270])
  }

  @Test func fewPartsOfTheFileAreRead() throws {
    let padding = [UInt8](repeating: 0, count: 100_000)
    let images = [Image(attribute: 0x10001, jpeg: small + padding), Image(attribute: 0x10002, jpeg: large + padding)]
    let counter = CountingReader(file(main + padding, images))
    #expect(try MultiPictureFile.read(counter.window)?.reduced.count == 2)
    #expect(counter.reads <= 6)
    #expect(counter.bytes <= 32 << 10)
  }

  @Test func anIndexOfManyImagesIsReadToALimit() throws {
    let counter = CountingReader(file(main, [Image](repeating: Image(attribute: 0x10001, jpeg: small), count: 2000)))
    #expect(try MultiPictureFile.read(counter.window)?.reduced.count == 31)
    #expect(counter.reads <= 64)
  }
}
