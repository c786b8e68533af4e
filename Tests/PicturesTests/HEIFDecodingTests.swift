import CDecoding
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(1)))
struct HEIFDecodingTests {
  private static let codecs = [
    (colors: CodedPicture.hevcColors, alpha: CodedPicture.hevcAlpha),
    (colors: CodedPicture.av1Colors, alpha: CodedPicture.av1Alpha),
  ]

  @Test(arguments: codecs.map(\.colors) + [.hevcSlices], [1, 3])
  func aSinglePictureBecomesMeans(_ picture: CodedPicture, _ parts: Int) throws {
    var file = TestHEIF()
    file.primary = file.add(picture, parts: parts)
    let header = try PictureHeader.heif(file.bytes)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for (index, (column, row)) in [(4, 4), (12, 4), (4, 12), (12, 12)].enumerated() {
      #expect(decoded.error(column, row, from: CodedPicture.quarters[index]) < 6)
    }
  }

  /// Six tiles, of which the last column and row are cut to half.
  @Test(arguments: codecs.map(\.colors))
  func theTilesOfAGridAreAtTheirPlaces(_ picture: CodedPicture) throws {
    var file = TestHEIF()
    let tiles = (0..<6).map { _ in file.add(picture) }
    let grid = TestHEIF.Item(
      type: "grid", data: TestHEIF.grid(rows: 2, columns: 3, 160, 96), properties: [TestHEIF.size(160, 96)],
      isInItemData: true)
    file.primary = file.add(grid)
    file.refer("dimg", from: file.primary, to: tiles)
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.pixels == PixelSize(width: 160, height: 96))
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    #expect((decoded.columns, decoded.rows) == (40, 24))
    for row in stride(from: 4, to: 24, by: 8) {
      for column in stride(from: 4, to: 40, by: 8) {
        let quarter = column / 8 % 2 + row / 8 % 2 * 2
        #expect(decoded.error(column, row, from: CodedPicture.quarters[quarter]) < 6, "\(column), \(row)")
      }
    }
  }

  /// One decoder serves both tiles.
  @Test func tilesOfSeveralSlicesAreWhole() throws {
    var file = TestHEIF()
    let tiles = [file.add(.hevcSlices), file.add(.hevcTurnedSlices)]
    file.primary = file.add(
      TestHEIF.Item(
        type: "grid", data: TestHEIF.grid(rows: 1, columns: 2, 128, 64), properties: [TestHEIF.size(128, 64)],
        isInItemData: true))
    file.refer("dimg", from: file.primary, to: tiles)
    let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for (index, (column, row)) in [(4, 4), (12, 4), (4, 12), (12, 12)].enumerated() {
      #expect(decoded.error(column, row, from: CodedPicture.quarters[index]) < 6, "\(index)")
      #expect(decoded.error(16 + column, row, from: CodedPicture.quarters[3 - index]) < 6, "\(index)")
    }
  }

  /// Cameras code 320 × 256 pixels for a thumbnail of 320 × 212.
  @Test(arguments: [CodedPicture.hevcColors, .hevcSlices])
  func blocksOutsideThePictureAreCutOff(_ picture: CodedPicture) throws {
    var file = TestHEIF()
    file.primary = file.add(
      TestHEIF.Item(type: "hvc1", data: picture.data, properties: [TestHEIF.size(64, 36), picture.property]))
    let header = try PictureHeader.heif(file.bytes)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    #expect((decoded.columns, decoded.rows) == (16, 9))
    for (index, (column, row)) in [(4, 4), (12, 4), (4, 8), (12, 8)].enumerated() {
      #expect(decoded.error(column, row, from: CodedPicture.quarters[index]) < 6, "\(index)")
    }
  }

  /// Some encoders code at least 160 × 64 pixels, for the smallest tiles too.
  @Test func theParameterSetsMayCutOffMostOfACodedPicture() throws {
    var file = TestHEIF()
    file.primary = file.add(.hevcPadded)
    let header = try PictureHeader.heif(file.bytes)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    #expect((decoded.columns, decoded.rows) == (6, 6))
    for (index, (column, row)) in [(1, 1), (4, 1), (1, 4), (4, 4)].enumerated() {
      #expect(decoded.error(column, row, from: CodedPicture.quarters[index]) < 6, "\(index)")
    }
    // The memory is that of 192 × 64 pixels: whole blocks of the coded picture.
    #expect(header.workingBytes >= 192 * 64 * 3 / 2 + 192 * 64)
  }

  /// Each unit takes the decoder far more memory than the file.
  @Test func aTileOfThousandsOfUnitsIsDamaged() throws {
    var file = TestHEIF()
    var picture = CodedPicture.hevcColors
    for _ in 0..<2000 { picture = picture.preceded(by: [38 << 1, 1, 0]) }
    file.primary = file.add(picture)
    let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
    #expect(decoded.status == CDECODING_DAMAGED && decoded.message == "a tile has more than 2000 parts")
  }

  @Test(arguments: codecs)
  func transparentPixelsShowTheBackground(_ codec: (colors: CodedPicture, alpha: CodedPicture)) throws {
    var file = TestHEIF()
    file.primary = file.add(codec.colors)
    let alpha = file.add(codec.alpha, [TestHEIF.alphaType])
    file.refer("auxl", from: alpha, to: [file.primary])
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.hasAlpha)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    #expect(decoded.error(4, 4, from: CodedPicture.quarters[0]) < 6)
    #expect(decoded.error(4, 12, from: CodedPicture.quarters[2]) < 6)
    #expect(decoded.error(12, 4, from: [255, 255, 255]) < 3)
    #expect(decoded.error(12, 12, from: [255, 255, 255]) < 3)
  }

  private static let multiplied = [
    (colors: CodedPicture.hevcMultiplied, alpha: CodedPicture.hevcSteps),
    (colors: CodedPicture.av1Multiplied, alpha: CodedPicture.av1Steps),
  ]

  /// The reference `prem` says that colours are multiplied by alpha. Without it, alpha is multiplied into them here.
  @Test(arguments: multiplied, [false, true])
  func multipliedColoursAreMixedWithTheBackgroundOnce(
    _ codec: (colors: CodedPicture, alpha: CodedPicture), _ isMultiplied: Bool
  ) throws {
    var file = TestHEIF()
    file.primary = file.add(codec.colors)
    let alpha = file.add(codec.alpha, [TestHEIF.alphaType])
    file.refer("auxl", from: alpha, to: [file.primary])
    if isMultiplied { file.refer("prem", from: file.primary, to: [alpha]) }
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.isPremultiplied == isMultiplied)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    let opacities = [1, 128.0 / 255, 128.0 / 255, 0]
    for (index, (column, row)) in [(4, 4), (12, 4), (4, 12), (12, 12)].enumerated() {
      let opacity = opacities[index]
      let expected = CodedPicture.multipliedQuarters[index].map {
        (isMultiplied ? $0 : $0 * opacity) + 255 * (1 - opacity)
      }
      #expect(decoded.error(column, row, from: expected) < 6, "\(index)")
    }
  }

  /// Matrix 0: green, blue and red are coded as they are.
  @Test(arguments: [CodedPicture.hevcGBR, .av1GBR, .av1GBRWith10Bits])
  func greenBlueAndRedAreNotConverted(_ picture: CodedPicture) throws {
    var file = TestHEIF()
    file.primary = file.add(picture, [TestHEIF.nclx(1, 13, 0, isFullRange: true)])
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.components == .rgb)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for (index, (column, row)) in [(4, 4), (12, 4), (4, 12), (12, 12)].enumerated() {
      #expect(decoded.error(column, row, from: CodedPicture.quarters[index]) < 6, "\(index)")
    }
  }

  @Test(
    arguments: zip(
      [CodedPicture.hevcGBR, .av1GBR], [CodedPicture.hevcSteps, .av1Steps]
    ).map { (colors: $0, alpha: $1) })
  func greenBlueAndRedAreMixedWithTheBackground(_ codec: (colors: CodedPicture, alpha: CodedPicture)) throws {
    var file = TestHEIF()
    file.primary = file.add(codec.colors, [TestHEIF.nclx(1, 13, 0, isFullRange: true)])
    let alpha = file.add(codec.alpha, [TestHEIF.alphaType])
    file.refer("auxl", from: alpha, to: [file.primary])
    let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    let mixed = CodedPicture.quarters[1].map { ($0 * 128 + 255 * 127) / 255 }
    #expect(decoded.error(4, 4, from: CodedPicture.quarters[0]) < 6)
    #expect(decoded.error(12, 4, from: mixed) < 6)
    #expect(decoded.error(12, 12, from: [255, 255, 255]) < 3)
  }

  /// Some programs write 4:4:4 into the configuration of 4:2:2.
  @Test func theSequenceHeaderOfAV1SaysHowManySamplesThereAre() throws {
    var file = TestHEIF()
    file.primary = file.add(CodedPicture.av1MislabelledAs444)
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.components == .ycc(.bt601, .full, across: 2, down: 1))
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for (index, (column, row)) in [(4, 4), (12, 4), (4, 12), (12, 12)].enumerated() {
      #expect(decoded.error(column, row, from: CodedPicture.quarters[index]) < 6, "\(index)")
    }
  }

  /// The property `lsel`; 65,535 is the last layer. Of HEVC, there is only the first.
  @Test(arguments: [(0, 0), (1, 3), (0xFFFF, nil), (2, nil)] as [(Int, Int?)])
  func theSelectedLayerIsShown(_ layer: Int, _ quarter: Int?) throws {
    var file = TestHEIF()
    let selection = TestHEIF.box("lsel", TestHEIF.number(layer, 2))
    file.primary = file.add(.av1Layers, [selection])
    let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
    if let quarter {
      #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
      #expect(decoded.error(4, 4, from: CodedPicture.quarters[quarter]) < 12, "\(decoded.color(4, 4))")
    }
    if layer == 2 { #expect(decoded.status == CDECODING_DAMAGED && decoded.message == "a tile has no picture") }
    var other = TestHEIF()
    other.primary = other.add(.hevcColors, [selection])
    let header = try? PictureHeader.heif(other.bytes)
    #expect((header != nil) == (layer == 0 || layer == 0xFFFF))
  }

  /// Data of the full length, of which the rest did not arrive. dav1d finds nothing wrong with zeros.
  @Test func dataThatEndInZerosAreDamage() throws {
    let picture = CodedPicture.av1Colors
    var file = TestHEIF()
    let item = TestHEIF.Item(
      type: picture.type, data: picture.data + [UInt8](repeating: 0, count: 64),
      properties: [TestHEIF.size(64, 64), picture.property])
    file.primary = file.add(item)
    let header = try PictureHeader.heif(file.bytes)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_CORRUPT && decoded.message == "the data of a tile end in zeros")
    #expect(DecodedTiles(header, in: file.bytes, failOn: .truncated).message != decoded.message)
  }

  @Test(arguments: [CodedPicture.hevcWith10Bits, .hevcWith12Bits, .av1With10Bits, .av1With12Bits])
  func moreThan8BitsBecome8(_ picture: CodedPicture) throws {
    var file = TestHEIF()
    file.primary = file.add(picture, [TestHEIF.nclx(1, 13, 6, isFullRange: true)])
    let header = try PictureHeader.heif(file.bytes)
    let decoded = DecodedTiles(header, in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for (index, (column, row)) in [(4, 4), (12, 4), (4, 12), (12, 12)].enumerated() {
      #expect(decoded.error(column, row, from: CodedPicture.quarters[index]) < 6, "\(index)")
    }
  }

  /// Colours of 10 or 12 bits beside alpha of 8, of which each pixel gets its own.
  @Test(arguments: [CodedPicture.hevcWith10Bits, .hevcWith12Bits, .av1With10Bits, .av1With12Bits])
  func moreThan8BitsAreMixedWithTheBackground(_ picture: CodedPicture) throws {
    var file = TestHEIF()
    file.primary = file.add(picture, [TestHEIF.nclx(1, 13, 6, isFullRange: true)])
    let alpha = file.add(picture.type == "av01" ? CodedPicture.av1Steps : .hevcSteps, [TestHEIF.alphaType])
    file.refer("auxl", from: alpha, to: [file.primary])
    let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    let mixed = CodedPicture.quarters[2].map { ($0 * 128 + 255 * 127) / 255 }
    #expect(decoded.error(4, 4, from: CodedPicture.quarters[0]) < 6)
    #expect(decoded.error(4, 12, from: mixed) < 6)
    #expect(decoded.error(12, 12, from: [255, 255, 255]) < 3)
  }

  /// What is left shows parts of all quarters: 22 columns and 24 rows of the first one.
  @Test(arguments: codecs.map(\.colors), [(22, 24), (21, 23)])
  func aCleanApertureIsCutOutAtItsPlace(_ picture: CodedPicture, _ kept: (Int, Int)) throws {
    var file = TestHEIF()
    let (width, height) = (kept.0 + 20, kept.1 + 20)
    // The centre of what is left, seen from that of the picture, in halves of pixels.
    let (right, down) = (width - kept.0 * 2, height - kept.1 * 2)
    file.primary = file.add(picture, [TestHEIF.cut(width, height, right: right, down: down)])
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.pixels == PixelSize(width: width, height: height))
    let decoded = DecodedTiles(header, in: file.bytes, shrink: 2)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    let (left, top) = (kept.0 / 2 - 2, kept.1 / 2 - 2)
    #expect(decoded.error(left, top, from: CodedPicture.quarters[0]) < 8)
    #expect(decoded.error(left + 4, top, from: CodedPicture.quarters[1]) < 8)
    #expect(decoded.error(left, top + 4, from: CodedPicture.quarters[2]) < 8)
    #expect(decoded.error(left + 4, top + 4, from: CodedPicture.quarters[3]) < 8)
  }

  @Test(arguments: codecs.map(\.colors))
  func aTileOfAnotherSizeIsDamaged(_ picture: CodedPicture) throws {
    var file = TestHEIF()
    let item = TestHEIF.Item(
      type: picture.type, data: picture.data, properties: [TestHEIF.size(72, 64), picture.property])
    file.primary = file.add(item)
    let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
    #expect(decoded.status == CDECODING_DAMAGED)
    #expect(decoded.message == "a tile has 64 x 64 pixels instead of 72 x 64")
  }

  /// The decoder must not get memory for a picture that is larger than the header says.
  @Test(arguments: [CodedPicture.av1Colors])
  func aTileThatIsCodedLargerIsDamaged(_ picture: CodedPicture) throws {
    var file = TestHEIF()
    let item = TestHEIF.Item(
      type: picture.type, data: picture.data, properties: [TestHEIF.size(8, 8), picture.property])
    file.primary = file.add(item)
    let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
    #expect(decoded.status == CDECODING_DAMAGED)
    #expect(decoded.message == "a tile is coded with more pixels than it has")
  }

  /// libde265 conceals what it cannot decode, and gives a picture. Of a slice without data it says nothing.
  @Test func whatTheDecoderConcealsIsDamage() throws {
    let picture = CodedPicture.hevcColors
    for count in 10...picture.data.count / 2 {
      var file = TestHEIF()
      let unit = picture.data[4..<count]
      let item = TestHEIF.Item(
        type: picture.type, data: [0, 0, 0, UInt8(unit.count)] + unit,
        properties: [TestHEIF.size(64, 64), picture.property])
      file.primary = file.add(item)
      let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
      #expect(decoded.status == CDECODING_DAMAGED, "\(count) bytes")
    }
  }

  /// Cut at each byte, a coded picture is never more than damaged, and its first half is no picture.
  @Test(arguments: codecs.map(\.colors))
  func codedDataThatEndTooEarlyAreNoFault(_ picture: CodedPicture) throws {
    for count in 1..<picture.data.count {
      var file = TestHEIF()
      let item = TestHEIF.Item(
        type: picture.type, data: Array(picture.data.prefix(count)),
        properties: [TestHEIF.size(64, 64), picture.property])
      file.primary = file.add(item)
      let decoded = DecodedTiles(try PictureHeader.heif(file.bytes), in: file.bytes)
      #expect(decoded.status == CDECODING_DAMAGED || decoded.status == CDECODING_OK, "\(decoded.message)")
      #expect(count > picture.data.count / 2 || decoded.status == CDECODING_DAMAGED)
    }
  }
}
