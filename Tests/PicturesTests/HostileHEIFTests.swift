import TestSupport
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct HostileHEIFTests {
  /// A small file of which the header would take gigabytes: each picture of the grid is the same one, in many parts.
  @Test func thePartsOfAllPicturesAreLimited() throws {
    var file = TestHEIF()
    let picture = CodedPicture.hevcColors
    let tile = file.add(
      TestHEIF.Item(
        type: picture.type, data: picture.data, properties: [TestHEIF.size(64, 64), picture.property], parts: 30_000,
        hasEqualParts: true))
    file.primary = file.add(
      TestHEIF.Item(
        type: "grid", data: TestHEIF.grid(rows: 1, columns: 3, 192, 64), properties: [TestHEIF.size(192, 64)],
        isInItemData: true))
    file.refer("dimg", from: file.primary, to: [tile, tile, tile])
    #expect(throws: ThumbnailError.unsupported("pictures in more than 65536 parts")) {
      try PictureHeader.heif(file.bytes)
    }
  }

  private static func grid() -> TestHEIF {
    var file = TestHEIF()
    let tiles = [file.add(.hevcColors, parts: 2), file.add(.hevcColors)]
    let alpha = file.add(.hevcAlpha, [TestHEIF.alphaType])
    file.primary = file.add(
      TestHEIF.Item(
        type: "grid", data: TestHEIF.grid(rows: 1, columns: 2, 128, 64),
        properties: [
          TestHEIF.size(128, 64), TestHEIF.turn(1), TestHEIF.nclx(1, 13, 6, isFullRange: true),
          TestHEIF.cut(40, 100, right: 2, down: 4),
        ],
        isInItemData: true))
    file.refer("dimg", from: file.primary, to: tiles)
    file.refer("thmb", from: alpha, to: [file.primary])
    return file
  }

  /// Whatever a byte becomes, the header is read or an error is thrown, and everything it points to is inside the file.
  @Test func noChangedByteIsATrap() throws {
    let bytes = Self.grid().bytes
    let meta = bytes.count - CodedPicture.hevcColors.data.count * 2 - CodedPicture.hevcAlpha.data.count
    var accepted = 0
    for place in 0..<meta {
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF, bytes[place] &+ 1] {
        var changed = bytes
        changed[place] = value
        guard let header = try? PictureHeader.heif(changed) else { continue }
        accepted += 1
        guard case .tiles(_, let tiles) = header.coding else { continue }
        let extents = tiles.flatMap(\.data) + tiles.map(\.configuration) + [header.exif].compactMap { $0 }
        #expect(extents.allSatisfy { $0.offset + $0.size <= UInt64(bytes.count) })
        #expect(header.workingBytes > 0)
      }
    }
    #expect(accepted > 100)
  }

  @Test func aFileThatIsCutOffIsTruncated() {
    // The thumbnail is at the end, and no picture fails for it.
    let bytes = Array(Self.grid().bytes.dropLast(CodedPicture.hevcAlpha.data.count))
    #expect((try? PictureHeader.heif(bytes)) != nil)
    for count in 40..<bytes.count - 1 {
      #expect(throws: ThumbnailError.self) { try PictureHeader.heif(Array(bytes.prefix(count))) }
    }
    #expect(throws: ThumbnailError.truncated("the file ends too early")) {
      try PictureHeader.heif(Array(bytes.dropLast()))
    }
  }

  @Test func aPictureDerivedFromItselfIsDamaged() {
    var file = TestHEIF()
    for type in ["iden", "grid"] {
      file.primary = file.add(
        TestHEIF.Item(type: type, data: TestHEIF.grid(rows: 1, columns: 1, 64, 64), isInItemData: true))
      file.refer("dimg", from: file.primary, to: [file.primary])
      #expect(throws: ThumbnailError.damaged("a picture is made of itself")) {
        try PictureHeader.heif(file.bytes)
      }
    }
  }

  /// Extents of which each takes no bytes of the box, so that a small box has as many as it says.
  @Test func extentsWithoutFieldsAreCounted() {
    var file = TestHEIF()
    file.primary = file.add(.hevcColors)
    file.change = { type, contents in
      guard type == "iloc" else { return contents }
      return [1, 0, 0, 0, 0, 0] + TestHEIF.number(2, 2)
        + (1...2).flatMap { TestHEIF.number($0, 2) + [0, 0, 0, 0, 0xFF, 0xFF] }
    }
    #expect(throws: ThumbnailError.damaged("its pictures are in too many parts")) { try PictureHeader.heif(file.bytes) }
  }

  @Test func aFileOfEmptyBoxesIsGivenUp() {
    let head = TestHEIF.box("ftyp", Array("heic".utf8) + [0, 0, 0, 0])
    let boxes = (0..<30_000).flatMap { _ in TestHEIF.box("free", []) }
    #expect(throws: ThumbnailError.damaged("its header has too many parts")) { try PictureHeader.heif(head + boxes) }
  }

  @Test(arguments: [
    ([0, 0, 0, 4] as [UInt8], "the box “free” gives an impossible size"),
    ([0, 0, 0, 1], "the box “free” gives an impossible size"),
    ([0, 0, 0xFF, 0], "the box “free” is larger than the one around it"),
  ])
  func aBoxOfAWrongSizeIsDamaged(_ size: [UInt8], _ message: String) {
    var file = TestHEIF()
    file.primary = file.add(.hevcColors)
    file.extra = size + Array("free".utf8) + [UInt8](repeating: 0, count: 8)
    #expect(throws: ThumbnailError.damaged(message)) { try PictureHeader.heif(file.bytes) }
  }

  @Test(arguments: [
    (1, 1, 64, 64, "2 tiles for 1 rows and 1 columns"),
    (1, 2, 129, 64, "its tiles do not cover the picture exactly"),
    (1, 2, 64, 64, "its tiles do not cover the picture exactly"),
    (2, 1, 64, 0, "its tiles do not cover the picture exactly"),
  ])
  func aGridMustFitItsPictures(_ rows: Int, _ columns: Int, _ width: Int, _ height: Int, _ message: String) {
    var file = TestHEIF()
    let tiles = [file.add(.hevcColors), file.add(.hevcColors)]
    file.primary = file.add(
      TestHEIF.Item(
        type: "grid", data: TestHEIF.grid(rows: rows, columns: columns, width, height), isInItemData: true))
    file.refer("dimg", from: file.primary, to: tiles)
    #expect(throws: ThumbnailError.damaged(message)) { try PictureHeader.heif(file.bytes) }
  }

  @Test func anEssentialPropertyThatIsUnknownIsNotPassedOver() {
    var file = TestHEIF()
    file.primary = file.add(.hevcColors, [TestHEIF.box("iscl", [0, 0, 0, 0])])
    #expect(throws: ThumbnailError.unsupported("a picture with the property “iscl”")) {
      try PictureHeader.heif(file.bytes)
    }
  }

  @Test(arguments: [(0, 64), (64, 0), (70_000, 64), (0xFFFF_FFFF, 0xFFFF_FFFF)])
  func aSizeThatNoPictureHasIsDamaged(_ width: Int, _ height: Int) {
    var file = TestHEIF()
    file.primary = file.add(
      TestHEIF.Item(
        type: "hvc1", data: CodedPicture.hevcColors.data,
        properties: [TestHEIF.size(width, height), CodedPicture.hevcColors.property]))
    #expect(throws: ThumbnailError.damaged("a picture of \(width) × \(height) pixels")) {
      try PictureHeader.heif(file.bytes)
    }
  }
}
