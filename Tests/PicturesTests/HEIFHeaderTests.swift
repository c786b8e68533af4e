import TestSupport
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct HEIFHeaderTests {
  private static func header(_ properties: [[UInt8]], _ picture: CodedPicture = .hevcColors) throws -> PictureHeader {
    var file = TestHEIF()
    file.primary = file.add(picture, properties)
    return try PictureHeader.heif(file.bytes)
  }

  @Test(arguments: [(CodedPicture.hevcColors, ImageType.heic), (.av1Colors, .avif)])
  func theParameterSetsSayWhatNoPropertyDoes(_ picture: CodedPicture, _ type: ImageType) throws {
    let header = try Self.header([], picture)
    #expect(header.type == type)
    #expect(header.pixels == PixelSize(width: 64, height: 64))
    #expect(header.components == .ycc(.bt601, .full, across: 2, down: 2))
    #expect(header.color == .unknown)
    #expect(header.orientation == .upright)
    #expect(!header.hasAlpha)
    #expect(header.remarks.isEmpty)
    #expect(header.workingBytes > 64 * 64 * 2)
  }

  @Test(arguments: [
    (1, 13, 6, PictureHeader.Components.ycc(.bt601, .limited, across: 2, down: 2), ColorDescription.sRGB),
    (12, 13, 1, .ycc(.bt709, .limited, across: 2, down: 2), .numbered(primaries: 12, transfer: 13)),
    (9, 16, 9, .ycc(.bt2020, .limited, across: 2, down: 2), .numbered(primaries: 9, transfer: 16)),
    (2, 2, 2, .ycc(.bt601, .limited, across: 2, down: 2), .unknown),
  ])
  func colorsAreThoseOfTheProperty(
    _ primaries: Int, _ transfer: Int, _ matrix: Int, _ components: PictureHeader.Components, _ color: ColorDescription
  ) throws {
    let header = try Self.header([TestHEIF.nclx(primaries, transfer, matrix, isFullRange: false)])
    #expect(header.components == components)
    #expect(header.color == color)
    #expect(header.remarks == (transfer == 16 ? ["HDR (PQ), mapped to standard range"] : []))
  }

  @Test func aProfileCountsMoreThanNumbers() throws {
    let profile = TestHEIF.box("colr", Array("prof".utf8) + [1, 2, 3, 4, 5])
    var file = TestHEIF()
    file.primary = file.add(.hevcColors, [TestHEIF.nclx(9, 16, 1, isFullRange: true), profile])
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.components == .ycc(.bt709, .full, across: 2, down: 2))
    guard case .profile(let extent) = header.color else {
      Issue.record("no profile: \(header.color)")
      return
    }
    #expect(Array(file.bytes[Int(extent.offset)..<Int(extent.offset + extent.size)]) == [1, 2, 3, 4, 5])
  }

  @Test(arguments: [
    ([TestHEIF.turn(0)], Orientation.upright), ([TestHEIF.turn(1)], .rotated270), ([TestHEIF.turn(2)], .rotated180),
    ([TestHEIF.turn(3)], .rotated90), ([TestHEIF.mirror(0)], .mirroredVertically), ([TestHEIF.mirror(1)], .mirrored),
    ([TestHEIF.turn(1), TestHEIF.mirror(0)], .transposed), ([TestHEIF.turn(1), TestHEIF.mirror(1)], .transversed),
    ([TestHEIF.turn(3), TestHEIF.mirror(0)], .transversed), ([TestHEIF.mirror(1), TestHEIF.turn(1)], .transposed),
  ])
  func turnsAndMirrorsMakeOneOrientation(_ properties: [[UInt8]], _ orientation: Orientation) throws {
    #expect(try Self.header(properties).orientation == orientation)
  }

  /// The same part of the stored picture, cut out before and after it is turned.
  @Test(arguments: [
    [TestHEIF.cut(20, 10, right: -12, down: 6)], [TestHEIF.turn(1), TestHEIF.cut(10, 20, right: 6, down: 12)],
    [TestHEIF.turn(2), TestHEIF.cut(20, 10, right: 12, down: -6)],
    [TestHEIF.turn(3), TestHEIF.cut(10, 20, right: -6, down: -12)],
    [TestHEIF.mirror(1), TestHEIF.cut(20, 10, right: 12, down: 6)],
  ])
  func anApertureCountsInThePictureAsItIsTurnedByThen(_ properties: [[UInt8]]) throws {
    let header = try Self.header(properties)
    #expect(header.pixels == PixelSize(width: 20, height: 10))
    guard case .tiles(_, let tiles) = header.coding else { return }
    #expect((tiles[0].x, tiles[0].y) == (-16, -30))
  }

  @Test func anApertureOutsideThePictureIsDamaged() {
    #expect(throws: ThumbnailError.damaged("the clean aperture is outside the picture")) {
      try Self.header([TestHEIF.cut(10, 10, right: 1000, down: 0)])
    }
    #expect(throws: ThumbnailError.damaged("the clean aperture has a denominator of 0")) {
      try Self.header([TestHEIF.box("clap", [UInt8](repeating: 0, count: 32))])
    }
  }

  @Test func metadataIsTheStructureAfterItsOffset() throws {
    var file = TestHEIF()
    file.primary = file.add(.hevcColors)
    let exif = file.add(TestHEIF.Item(type: "Exif", data: [0, 0, 0, 6] + Array("Exif\0\0II*\0".utf8)))
    file.refer("cdsc", from: exif, to: [file.primary])
    let extent = try #require(try PictureHeader.heif(file.bytes).exif)
    #expect(Array(file.bytes[Int(extent.offset)..<Int(extent.offset + extent.size)]) == Array("II*\0".utf8))
  }

  @Test func thumbnailsOfTheSameShapeAreSmallerVersions() throws {
    var file = TestHEIF()
    // The header does not know that the coded pictures are smaller than it says.
    let large = TestHEIF.Item(
      type: "hvc1", data: CodedPicture.hevcColors.data,
      properties: [TestHEIF.size(128, 128), CodedPicture.hevcColors.property])
    file.primary = file.add(large)
    let same = file.add(.hevcColors)
    let other = file.add(.hevcColors, [TestHEIF.cut(64, 32, right: 0, down: 0)])
    let jpeg = file.add(TestHEIF.Item(type: "jpeg", data: [0xFF, 0xD8], properties: [TestHEIF.size(32, 32)]))
    let unknown = file.add(TestHEIF.Item(type: "vvc1", data: [1], properties: [TestHEIF.size(32, 32)]))
    for thumbnail in [same, other, jpeg, unknown] { file.refer("thmb", from: thumbnail, to: [file.primary]) }
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.reduced.map(\.pixels.width) == [64, 32])
    guard case .jpeg(let extent) = header.reduced.last?.coding else {
      Issue.record("no JPEG")
      return
    }
    #expect(Array(file.bytes[Int(extent.offset)..<Int(extent.offset + extent.size)]) == [0xFF, 0xD8])
  }

  @Test func identityAndOverlayAreMadeOfTheirPictures() throws {
    var file = TestHEIF()
    let parts = [file.add(.hevcColors), file.add(.hevcColors)]
    let overlay = TestHEIF.Item(
      type: "iovl",
      data: [0, 0] + [UInt8](repeating: 0, count: 8)
        + [128, 64, 64, 0, 0, 0].flatMap { TestHEIF.number($0, 2) },
      isInItemData: true)
    let canvas = file.add(overlay)
    file.refer("dimg", from: canvas, to: parts)
    file.primary = file.add(
      TestHEIF.Item(type: "iden", data: [], properties: [TestHEIF.turn(1)], isInItemData: true))
    file.refer("dimg", from: file.primary, to: [canvas])
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.orientedPixels == PixelSize(width: 64, height: 128))
    guard case .tiles(_, let tiles) = header.coding else { return }
    #expect(tiles.map(\.x) == [64, 0])
    #expect(header.canvas == nil)
    file.items[canvas - 1].data[15] = 32
    #expect(try PictureHeader.heif(file.bytes).canvas == RGBColor(red: 0, green: 0, blue: 0))
    file.items[canvas - 1].data[15] = 33
    #expect(
      throws: ThumbnailError.unsupported("pictures in different forms or at odd places, drawn onto each other")
    ) {
      try PictureHeader.heif(file.bytes)
    }
  }

  @Test func thePictureOfASequenceIsItsFirst() throws {
    let bytes = TestMovie.file(
      tracks: [
        TestMovie.Track(
          handler: "pict", codec: "hvc1", width: 64, height: 64, boxes: CodedPicture.hevcColors.property,
          sample: CodedPicture.hevcColors.data)
      ], before: TestHEIF.box("ftyp", Array("hevc".utf8) + [0, 0, 0, 0] + Array("msf1".utf8)))
    let header = try PictureHeader.heif(bytes)
    #expect(header.pixels == PixelSize(width: 64, height: 64))
    #expect(header.remarks == ["a sequence; only its first picture is shown"])
    #expect(DecodedTiles(header, in: bytes).error(4, 4, from: CodedPicture.quarters[0]) < 6)
  }

  /// The primary picture of such a file may lack the alpha that its track has.
  @Test func theMajorBrandDecidesBetweenPictureAndSequence() throws {
    func file(_ brand: String, codec: String = "av01") -> [UInt8] {
      var still = TestHEIF()
      still.primary = still.add(.av1Colors)
      var before = still.bytes
      before.replaceSubrange(8..<12, with: brand.utf8)
      let (colors, alpha) = (CodedPicture.av1Colors, CodedPicture.av1Alpha)
      let name = TestHEIF.fullBox("auxi", 0, Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))
      return TestMovie.file(
        tracks: [
          TestMovie.Track(
            handler: "pict", codec: codec, width: 64, height: 64, boxes: colors.property, sample: colors.data, id: 1),
          TestMovie.Track(
            handler: "auxv", codec: "av01", width: 64, height: 64, boxes: alpha.property + name, sample: alpha.data,
            id: 2, auxiliaryOf: 1),
        ], before: before)
    }
    #expect(try PictureHeader.heif(file("avis")).hasAlpha)
    #expect(try !PictureHeader.heif(file("avif")).hasAlpha)
    // A track of a kind that is not read.
    #expect(try !PictureHeader.heif(file("avis", codec: "avc1")).hasAlpha)
  }

  /// A box `meta` before the tracks, with metadata only; alpha in a track of its own; and a picture that is turned.
  @Test func aSequenceHasAlphaAndIsTurned() throws {
    let colors = CodedPicture.av1Colors
    let alpha = CodedPicture.av1Alpha
    let name = TestHEIF.fullBox("auxi", 0, Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))
    let meta = TestHEIF.fullBox("meta", 0, TestHEIF.fullBox("hdlr", 0, [UInt8](repeating: 0, count: 21)))
    let bytes = TestMovie.file(
      tracks: [
        TestMovie.Track(
          handler: "pict", codec: "av01", width: 64, height: 64, boxes: colors.property + TestHEIF.turn(1),
          sample: colors.data, id: 1),
        TestMovie.Track(
          handler: "auxv", codec: "av01", width: 64, height: 64, boxes: alpha.property + name, sample: alpha.data,
          id: 2,
          auxiliaryOf: 1),
        // What is no alpha may be anything.
        TestMovie.Track(
          handler: "auxv", codec: "avc1", width: 64, height: 64, sample: [1, 2, 3], id: 3, auxiliaryOf: 1),
      ], before: TestHEIF.box("ftyp", Array("avis".utf8) + [0, 0, 0, 0] + Array("msf1".utf8)) + meta)
    let header = try PictureHeader.heif(bytes)
    #expect(header.orientation == .rotated270 && header.hasAlpha)
    let decoded = DecodedTiles(header, in: bytes)
    #expect(decoded.error(4, 4, from: CodedPicture.quarters[0]) < 6)
    #expect(decoded.error(12, 4, from: [255, 255, 255]) < 3)
  }
}
